import { type KeyboardEvent, type ReactElement, type SubmitEvent, useEffect, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { emptyTrace } from '../../../src/trace/reduce';
import { KEYS, useAsk } from '../api/queries';
import type { Me } from '../api/types';
import { Problem } from '../parts/notice';
import { goTo, pathOfSolve } from '../route';
import { askedOf, defaultChoices, type Choices } from './choices';
import { AskOptions } from './options';

const EXAMPLES = [
  'How many piano tuners are there in Chicago?',
  'Write a limerick about a queue that never drops a message.',
  'Compare three ways to store time series, and choose one.',
];

/** Sent with a question, so that one that is sent twice is one solve. */
function newSending(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

export function Ask({ me }: { readonly me: Me }): ReactElement {
  const client = useQueryClient();
  const ask = useAsk();
  const box = useRef<HTMLTextAreaElement>(null);
  const [question, setQuestion] = useState('');
  const [choices, setChoices] = useState<Choices>(() => defaultChoices(me));
  const [sentAs, setSentAs] = useState(newSending);
  useEffect(() => box.current?.focus(), []);

  const isReady = question.trim() !== '' && !ask.isPending;
  const change = (work: () => void): void => {
    work();
    setSentAs(newSending());
  };
  const send = (event?: SubmitEvent): void => {
    event?.preventDefault();
    if (!isReady) return;
    const then = {
      onSuccess: ({ id }: { readonly id: string }) => {
        // Its place is drawn at once, before anything is known of it.
        client.setQueryData(KEYS.solve(id), emptyTrace({ id, runId: '', question: question.trim() }));
        goTo(pathOfSolve(id));
      },
    };
    ask.mutate({ asked: askedOf(question.trim(), choices, me), sentAs }, then);
  };
  const sendByEnter = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <main className="ask">
      <h1>What should the team work on?</h1>
      <form onSubmit={send}>
        <textarea
          ref={box}
          dir="auto"
          rows={3}
          aria-label="Your question"
          placeholder="Ask anything. Enter asks, Shift+Enter starts a line."
          value={question}
          onChange={(event) => {
            const { value } = event.target;
            change(() => {
              setQuestion(value);
            });
          }}
          onKeyDown={sendByEnter}
        />
        <AskOptions
          me={me}
          choices={choices}
          onChange={(next) => {
            change(() => {
              setChoices(next);
            });
          }}
        >
          <button className="primary" type="submit" disabled={!isReady}>
            {ask.isPending ? 'Asking …' : 'Ask'}
          </button>
        </AskOptions>
      </form>
      {ask.error !== null && <Problem>It was not asked: {ask.error.message}</Problem>}
      {question === '' && (
        <section className="examples" aria-label="Examples">
          {EXAMPLES.map((example) => (
            <button
              key={example}
              type="button"
              onClick={() => {
                setQuestion(example);
                box.current?.focus();
              }}
            >
              {example}
            </button>
          ))}
        </section>
      )}
    </main>
  );
}
