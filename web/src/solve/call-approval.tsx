import { type ReactElement, type SubmitEvent, useId, useState } from 'react';
import { previewOf } from '../../../src/protocol/text';
import { type WaitingCall, waitingCalls } from '../../../src/trace/waiting-calls';
import type { Round } from '../api/types';
import { Problem } from '../parts/notice';
import { StateMark } from '../parts/state-mark';
import { useShown } from './context';
import { Deadline, Reason } from './decision';
import { showText } from './show-text';
import { useSteer } from './steer';
import { WholeText } from './whole-text';

/** Controls for the calls of tools in a round that wait for approval; nothing if none does. */
export function CallApprovals({ round }: { readonly round: Round }): ReactElement | null {
  const { solve } = useShown();
  const calls = solve.status === 'running' ? waitingCalls({ id: solve.id, rounds: [round] }) : [];
  if (calls.length === 0) return null;
  return (
    <div className="approval">
      {calls.map((call) => (
        <CallApproval key={call.id} call={call} />
      ))}
      <p>
        <Deadline id={round.childId ?? solve.id} then="the call expires" />
      </p>
    </div>
  );
}

/** Approves a call, calls with other arguments, or rejects it for a reason that its model is told. */
function CallApproval({
  call: { run, id, name, arguments: args },
}: {
  readonly call: WaitingCall;
}): ReactElement {
  const { solve } = useShown();
  const { mutate, isPending, error } = useSteer(run, solve.id);
  const [open, setOpen] = useState<'edit' | 'reject' | null>(null);
  const given = previewOf(args);
  const decide = (decision: object): void => {
    mutate({ verb: 'decide-call', body: { call: id, ...decision } });
  };
  const toggle = (which: 'edit' | 'reject') => (): void => {
    setOpen(open === which ? null : which);
  };
  return (
    <section aria-label={`Call ${id}`}>
      <p>
        <StateMark state="asks" /> <strong>May {showText(name)} be called?</strong> Its model asks with these
        arguments:
      </p>
      <WholeText label="Arguments" text={given} />
      <div className="tools">
        <button
          type="button"
          className="primary"
          disabled={isPending}
          onClick={() => {
            decide({ approve: true });
          }}
        >
          Approve
        </button>
        <button type="button" disabled={isPending} aria-expanded={open === 'edit'} onClick={toggle('edit')}>
          Edit
        </button>
        <button
          type="button"
          disabled={isPending}
          aria-expanded={open === 'reject'}
          onClick={toggle('reject')}
        >
          Reject
        </button>
      </div>
      {open === 'edit' && (
        <EditArguments
          given={given}
          onSend={(changed) => {
            decide({ approve: true, arguments: changed });
          }}
        />
      )}
      {open === 'reject' && (
        <Reason
          label="Why not? The model is told."
          action="Reject the call"
          onSend={(reason) => {
            decide({ approve: false, reason });
          }}
        />
      )}
      {error !== null && <Problem>{error.message}</Problem>}
    </section>
  );
}

interface EditProps {
  readonly given: string;
  readonly onSend: (changed: object) => void;
}

function EditArguments({ given, onSend }: EditProps): ReactElement {
  const id = useId();
  const [text, setText] = useState(() => JSON.stringify(objectIn(given) ?? {}, null, 2));
  const changed = objectIn(text);
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    if (changed !== null) onSend(changed);
  };
  return (
    <form onSubmit={send}>
      <label htmlFor={id}>Arguments, as a JSON object</label>
      <textarea
        id={id}
        rows={6}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
        }}
      />
      <button type="submit" disabled={changed === null}>
        Call with these
      </button>
    </form>
  );
}

function objectIn(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
