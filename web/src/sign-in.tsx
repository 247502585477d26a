import { type ReactElement, type SubmitEvent, useState } from 'react';
import { Problem } from './parts/notice';
import { reasonOf } from './api/request';
import { signIn } from './session';

interface SignInProps {
  /** Why the link did not sign in, if one was used. */
  readonly problem: string | null;
  readonly onDone: () => void;
}

/** Asks for a key if no link signed the browser in. */
export function SignIn({ problem, onDone }: SignInProps): ReactElement {
  const [key, setKey] = useState('');
  const [refusal, setRefusal] = useState(problem);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    try {
      await signIn({ key: key.trim() });
      onDone();
    } catch (error) {
      setRefusal(reasonOf(error));
    }
  };
  return (
    <main className="sign-in">
      <h1>Sign in</h1>
      <p>
        Open the link that <code>npm start</code> or <code>temporal-conductor up</code> printed. It works
        once. Or enter a key from <code>temporal-conductor key create NAME</code>.
      </p>
      <form onSubmit={(event) => void send(event)}>
        <label htmlFor="key">Key</label>
        <input
          id="key"
          type="password"
          autoComplete="current-password"
          placeholder="sk-tc-…"
          value={key}
          onChange={(event) => {
            setKey(event.target.value);
          }}
          autoFocus
        />
        <button className="primary" type="submit" disabled={key.trim() === ''}>
          Sign in
        </button>
      </form>
      {refusal !== null && <Problem>{refusal}</Problem>}
    </main>
  );
}
