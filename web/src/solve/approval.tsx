import { type ReactElement, type SubmitEvent, useId, useState } from 'react';
import type { Plan } from '../../../src/plan/plan';
import { describeAge, describeEstimate } from '../../../src/trace/describe';
import { useApprovalEnd } from '../api/queries';
import type { Round } from '../api/types';
import { Problem } from '../parts/notice';
import { useNow } from '../parts/now';
import { StateMark } from '../parts/state-mark';
import { useShown } from './context';
import { useSteer } from './steer';

interface ApprovalProps {
  readonly round: Round;
  /** Plan as shown; sent with the approval, so that a plan that replaced it meanwhile is not approved by mistake. */
  readonly plan: Plan;
  readonly onEdit: () => void;
}

/** Controls for a plan that waits for approval: approve it, edit it, or reject it and have another one written. */
export function Approval({ round, plan, onEdit }: ApprovalProps): ReactElement {
  const { solve } = useShown();
  const { mutate, isPending, error } = useSteer(round.childId ?? solve.id, solve.id);
  const [isRejecting, setRejecting] = useState(false);
  return (
    <div className="approval">
      <p>
        <StateMark state="asks" /> <strong>This plan waits for you.</strong>{' '}
        {solve.estimate !== undefined && <>It takes {describeEstimate(solve.estimate)}.</>}{' '}
        <Deadline id={round.childId ?? solve.id} />
      </p>
      <div className="tools">
        <button
          type="button"
          className="primary"
          disabled={isPending}
          onClick={() => {
            mutate({ verb: 'approve', body: { plan } });
          }}
        >
          Approve
        </button>
        <button type="button" disabled={isPending} onClick={onEdit}>
          Edit
        </button>
        <button
          type="button"
          disabled={isPending}
          aria-expanded={isRejecting}
          onClick={() => {
            setRejecting(!isRejecting);
          }}
        >
          Reject
        </button>
      </div>
      {isRejecting && (
        <Rejection
          onSend={(reason) => {
            mutate({ verb: 'reject', body: { reason } });
          }}
        />
      )}
      {error !== null && <Problem>{error.message}</Problem>}
    </div>
  );
}

/** Time left until the run ends without a decision. */
function Deadline({ id }: { readonly id: string }): ReactElement | null {
  const { data: endsAt } = useApprovalEnd(id);
  const now = useNow(1000);
  if (endsAt == null) return null;
  const left = Date.parse(endsAt) - now;
  return (
    <span title={new Date(endsAt).toLocaleString()}>
      {left > 0 ? `Without a decision the run ends in ${describeAge(left)}.` : 'The deadline has passed.'}
    </span>
  );
}

function Rejection({ onSend }: { readonly onSend: (reason: string) => void }): ReactElement {
  const id = useId();
  const [reason, setReason] = useState('');
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    onSend(reason);
  };
  return (
    <form className="line" onSubmit={send}>
      <label htmlFor={id}>What should the next plan do differently?</label>
      <input
        id={id}
        value={reason}
        onChange={(event) => {
          setReason(event.target.value);
        }}
        autoFocus
      />
      <button type="submit" disabled={reason.trim() === ''}>
        Request another plan
      </button>
    </form>
  );
}
