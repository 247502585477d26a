import type { ReactElement } from 'react';
import {
  asSentence,
  describeAge,
  describeCost,
  describeMs,
  describeTokens,
  describeUsd,
  stepStateOf,
} from '../../../src/trace/describe';
import { useIsServed, useLimits } from '../api/queries';
import type { Solve } from '../api/types';
import type { Wait } from '../api/use-live-solve';
import { Fold } from '../parts/fold';
import { Problem } from '../parts/notice';
import { useNow } from '../parts/now';
import { useTitle } from '../parts/title';
import { StateMark, stateOfRun, wordOf } from '../parts/state-mark';
import { AnswerText } from './answer-text';
import { useShown } from './context';
import { OtherRuns } from './other-runs';
import { showText } from './show-text';
import { timesOf } from './spans';

/** The question, its state, and its cost against the limit. */
export function SolveHead({ wait }: { readonly wait: Wait | null }): ReactElement {
  const { solve } = useShown();
  const isRunning = solve.status === 'running';
  const { data: limits } = useLimits(solve.id, isRunning && solve.runId !== '');
  const isServed = useIsServed(solve.id);
  const now = useNow(1000, isRunning);
  const state = stateOfRun(solve.status, solve.waitsFor);
  const most = limits?.costUsd ?? null;
  useTitle(`${wordOf(state)}: ${solve.question.slice(0, 60)}`);
  return (
    <div className="solve-head">
      <Question text={solve.question} />
      <div className="facts">
        <span className={`state state-${state}`}>
          <StateMark state={state} /> {wordOf(state)}
        </span>
        <span>{describeTime(solve, now)}</span>
        <span>
          {describeCost(solve)}
          {most !== null && ` of ${describeUsd(most)}`}
          {most !== null && most > 0 && (
            <meter min={0} max={most} value={solve.costUsd} aria-label="cost against its limit" />
          )}
        </span>
        <span>{describeTokens(solve)}</span>
        <Ways />
      </div>
      {isRunning && (
        <p className="wait" aria-live="polite">
          {isServed ? describeWait(solve, wait, now) : UNSERVED}
        </p>
      )}
      <End solve={solve} />
    </div>
  );
}

/** Links to this run in Temporal's UI and to comparisons with other runs. */
function Ways(): ReactElement {
  const { solve, me } = useShown();
  return (
    <>
      {me.workflowsPage !== null && solve.runId !== '' && (
        <a href={pathIn(me.workflowsPage, solve)} target="_blank" rel="noopener noreferrer">
          Temporal’s page
        </a>
      )}
      {solve.status !== 'running' && <OtherRuns solve={solve} />}
    </>
  );
}

function pathIn(workflowsPage: string, { id, runId }: Solve): string {
  return `${workflowsPage}/${encodeURIComponent(id)}/${runId}`;
}

const SHOWN_CHARACTERS = 400;

function Question({ text }: { readonly text: string }): ReactElement {
  const isLong = text.length > SHOWN_CHARACTERS;
  return (
    <>
      <h1 dir="auto">{showText(isLong ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text)}</h1>
      {isLong && (
        <Fold summary="The whole question">
          <AnswerText text={text} />
        </Fold>
      )}
    </>
  );
}

const MINUTE_MS = 60_000;

/**
 * `1 min 4 s, 58.0 s of it waiting for you`: the time from the start to the end, or so far in whole seconds. Empty for
 * a run of an older version.
 */
function describeTime(solve: Solve, now: number): string {
  if (solve.startedAt === undefined) return '';
  const { tookMs, waitedMs } = timesOf(solve, now);
  const isClock = solve.status === 'running';
  const tell = (ms: number): string => (isClock && ms < MINUTE_MS ? describeAge(ms) : describeMs(ms));
  return waitedMs === 0 ? tell(tookMs) : `${tell(tookMs)}, ${tell(waitedMs)} of it waiting for you`;
}

const UNSERVED =
  'Waits for a worker: none polls the task queue of this solve. Start "temporal-conductor worker".';

function describeWait({ waitsFor, waitReason = '' }: Solve, wait: Wait | null, now: number): string {
  if (waitsFor === 'store') return `Waits until the store can be used: ${waitReason}`;
  if (waitsFor === 'caller') return 'Waits for the one who asked, whose functions its models call.';
  if (waitsFor === 'pause') return `Waits: ${waitReason}`;
  if (waitsFor === 'limit')
    return 'A step waits until it fits the limits: raise one below, or wait until other steps release what they do not use.';
  if (wait?.for !== 'rate') return '';
  const seconds = Math.ceil((Date.parse(wait.until) - now) / 1000);
  return seconds > 0 ? `Waiting: ${wait.reason}; next try in ${seconds} s` : '';
}

const STOPS = {
  calls: 'its limit on calls',
  tokens: 'its limit on tokens',
  cost: 'its limit on cost',
  wallClock: 'its limit on time',
  approval: 'the deadline of its approval',
} as const;

/** Says how the solve ended, unless it has a complete answer and nothing failed. */
function End({ solve }: { readonly solve: Solve }): ReactElement | null {
  const { status, stoppedBy, error, degraded, answerCut } = solve;
  const again = describeAgain(solve);
  if (status === 'running') return null;
  if (stoppedBy !== null)
    return (
      <Problem>
        It was stopped by {STOPS[stoppedBy]}. {again} What this run spent does not count again.
      </Problem>
    );
  if (status === 'failed')
    return (
      <Problem>
        It failed: {asSentence(error?.message ?? 'no reason is known')} {again}
      </Problem>
    );
  if (status === 'cancelled') return <p className="faint">It was cancelled. {again}</p>;
  if (answerCut === true) return <p className="faint">The answer was cut off at its token limit.</p>;
  return degraded ? (
    <p className="faint">Some steps failed; the answer comes from the remaining ones.</p>
  ) : null;
}

/** Says how to go on from what there is: a new run keeps the outputs before its first step. */
function describeAgain({ rounds }: Solve): string {
  if (rounds.every(({ plan }) => plan === null)) return 'There is no plan to go on from: ask again.';
  const isKept = rounds.some(({ steps }) => steps.some((step) => stepStateOf(step) === 'done'));
  return isKept
    ? 'Finished steps are kept: select a step to run again from it.'
    : 'Select a step to run again from it.';
}
