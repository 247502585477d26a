import { type ReactElement, type SubmitEvent, useState } from 'react';
import { useLimits } from '../api/queries';
import type { HeldLimits } from '../api/types';
import { findLimitProblem, LIMIT_LABELS, limitIn, textOfLimit } from '../parts/limit';
import { NumberField } from '../parts/number-field';
import { Problem } from '../parts/notice';
import { useShown } from './context';
import { type Order, useSteer } from './steer';

/** Controls of a running solve. */
export function Steering(): ReactElement | null {
  const { solve } = useShown();
  const isRunning = solve.status === 'running';
  const { data: limits } = useLimits(solve.id, isRunning && solve.runId !== '');
  const { mutate, isPending, error } = useSteer(solve.id);
  if (!isRunning) return null;
  return (
    <section className="steering" aria-label="Steering">
      <Hint
        onSend={(hint, then) => {
          mutate({ verb: 'hint', body: { hint } }, { onSuccess: then });
        }}
      />
      {limits !== undefined && (
        <Limits key={`${limits.depth} ${limits.costUsd}`} limits={limits} order={mutate} />
      )}
      <Cancel
        isPending={isPending}
        onCancel={() => {
          mutate({ verb: 'cancel' });
        }}
      />
      {error !== null && <Problem>{error.message}</Problem>}
    </section>
  );
}

function Hint({ onSend }: { readonly onSend: (hint: string, then: () => void) => void }): ReactElement {
  const [hint, setHint] = useState('');
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    onSend(hint, () => {
      setHint('');
    });
  };
  return (
    <form className="line hint" onSubmit={send}>
      <input
        aria-label="Hint for the Conductor"
        placeholder="Hint for the Conductor"
        value={hint}
        onChange={(event) => {
          setHint(event.target.value);
        }}
      />
      <button type="submit" disabled={hint.trim() === ''}>
        Hint
      </button>
    </form>
  );
}

interface LimitsProps {
  readonly limits: HeldLimits;
  readonly order: (order: Order) => void;
}

function Limits({ limits, order }: LimitsProps): ReactElement {
  const [depth, setDepth] = useState(textOfLimit(limits.depth));
  const [costUsd, setCostUsd] = useState(textOfLimit(limits.costUsd));
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    order({ verb: 'limits', body: { depth: limitIn(depth), costUsd: limitIn(costUsd) } });
  };
  const isChanged = depth !== textOfLimit(limits.depth) || costUsd !== textOfLimit(limits.costUsd);
  const problem = findLimitProblem({ depth, costUsd });
  return (
    <>
      <form className="line limits" onSubmit={send}>
        <NumberField
          label={LIMIT_LABELS.depth}
          nothing="any"
          value={depth}
          onChange={setDepth}
          className="short"
        />
        <NumberField
          label={LIMIT_LABELS.costUsd}
          nothing="none"
          value={costUsd}
          onChange={setCostUsd}
          className="short"
        />
        <button type="submit" disabled={!isChanged || problem !== null}>
          Set
        </button>
      </form>
      {problem !== null && <Problem>{problem}</Problem>}
    </>
  );
}

/** Asks for confirmation in place, since a cancelled solve cannot be resumed. */
function Cancel({
  isPending,
  onCancel,
}: {
  readonly isPending: boolean;
  readonly onCancel: () => void;
}): ReactElement {
  const [isSure, setSure] = useState(false);
  if (!isSure)
    return (
      <button
        type="button"
        onClick={() => {
          setSure(true);
        }}
      >
        Cancel
      </button>
    );
  return (
    <span className="line">
      <button type="button" className="danger" disabled={isPending} onClick={onCancel} autoFocus>
        Cancel this solve
      </button>
      <button
        type="button"
        className="quiet"
        onClick={() => {
          setSure(false);
        }}
      >
        Let it run
      </button>
    </span>
  );
}
