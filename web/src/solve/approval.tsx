import { type ReactElement, useState } from 'react';
import type { Plan } from '../../../src/plan/plan';
import { describeEstimate } from '../../../src/trace/describe';
import type { Round } from '../api/types';
import { Problem } from '../parts/notice';
import { StateMark } from '../parts/state-mark';
import { useShown } from './context';
import { Deadline, Reason } from './decision';
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
        <Deadline id={round.childId ?? solve.id} then="the run ends" />
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
        <Reason
          label="What should the next plan do differently?"
          action="Request another plan"
          onSend={(reason) => {
            mutate({ verb: 'reject', body: { reason } });
          }}
        />
      )}
      {error !== null && <Problem>{error.message}</Problem>}
    </div>
  );
}
