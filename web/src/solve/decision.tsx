import { type ReactElement, type SubmitEvent, useId, useState } from 'react';
import { describeAge } from '../../../src/trace/describe';
import { useApprovalEnd } from '../api/queries';
import { useNow } from '../parts/now';

interface DeadlineProps {
  /** Id of the run that waits. */
  readonly id: string;
  /** What happens without a decision. */
  readonly then: string;
}

/** Time left for a decision. */
export function Deadline({ id, then }: DeadlineProps): ReactElement | null {
  const { data: endsAt } = useApprovalEnd(id);
  const now = useNow(1000);
  if (endsAt == null) return null;
  const left = Date.parse(endsAt) - now;
  return (
    <span title={new Date(endsAt).toLocaleString()}>
      {left > 0 ? `Without a decision ${then} in ${describeAge(left)}.` : 'The deadline has passed.'}
    </span>
  );
}

interface ReasonProps {
  readonly label: string;
  readonly action: string;
  readonly onSend: (reason: string) => void;
}

/** Field for the reason of a rejection. */
export function Reason({ label, action, onSend }: ReasonProps): ReactElement {
  const id = useId();
  const [reason, setReason] = useState('');
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    onSend(reason);
  };
  return (
    <form className="line" onSubmit={send}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        value={reason}
        onChange={(event) => {
          setReason(event.target.value);
        }}
        autoFocus
      />
      <button type="submit" disabled={reason.trim() === ''}>
        {action}
      </button>
    </form>
  );
}
