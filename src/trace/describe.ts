import { CONDUCTOR_ID, type Plan } from '../plan/plan';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { isReview, pathOf, type RunTree } from './run-tree';

/** `1 step`, `3 steps`: for nouns that take an s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `completed · 3 calls`. */
export function joinFacts(...facts: readonly (string | false | null | undefined)[]): string {
  return facts.filter((fact) => fact).join(' · ');
}

/** Ends a message with a full stop, so that another may follow it. */
export function asSentence(message: string): string {
  return /[.!?…]$/.test(message) ? message : `${message}.`;
}

/** `3 calls, 1,204 tokens`. */
export function describeTokens({ usage }: Pick<SolveTrace, 'usage'>): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  return `${counted(usage.calls, 'call')}, ${tokens.toLocaleString('en-US')} tokens`;
}

/** `$0.0012`, or `at least $0.0012` while some call's cost is unknown. */
export function describeCost(cost: Pick<SolveTrace, 'costUsd' | 'costIsLowerBound'>): string {
  return `${cost.costIsLowerBound ? 'at least ' : ''}${describeUsd(cost.costUsd)}`;
}

export const CUT = 'answer cut at maxAnswerTokens';

export function describeEnd(trace: SolveTrace): string {
  const { status, degraded, answerCut, stoppedBy } = trace;
  return joinFacts(
    degraded ? `${status}, degraded` : status,
    describeRunTime(trace),
    answerCut && CUT,
    stoppedBy && `stopped by ${stoppedBy}`,
    describeTokens(trace),
    describeCost(trace),
  );
}

/** `$0.0012`, `$1.50`, `$0.000024`: with enough digits that no amount paid looks free. */
export function describeUsd(usd: number): string {
  const isTiny = usd > 0 && usd < 0.00005;
  const digits = usd >= 1 || usd === 0 ? 2 : isTiny ? Math.min(9, 2 - Math.ceil(Math.log10(usd))) : 4;
  return `$${usd.toFixed(digits)}`;
}

/** `at most 9 calls, 40,000 tokens, $0.1200`: the most that a plan may use, known before its first step. */
export function describeEstimate(estimate: NonNullable<SolveTrace['estimate']>): string {
  const { calls, tokens, nanoUsd, ownSteps = 0 } = estimate;
  const amount = describeTokens({ usage: { calls, inputTokens: tokens, outputTokens: 0 } });
  const cost = nanoUsd === null ? 'cost unknown' : describeUsd(nanoUsd / 1e9);
  const own = ownSteps === 1 ? 'step' : 'steps';
  const beside = ownSteps === 0 ? '' : `, plus whatever the Conductor spends on its own ${own}`;
  return `at most ${amount}, ${cost}${beside}`;
}

type Limit = NonNullable<SolveTrace['stoppedBy']>;

/** Spending limits look ahead; this explains why a stopped run has not reached its limit. */
const WORST_CASE =
  'A call starts only if its worst case still fits, so a run stops before its limit and never exceeds it.';

const EXPLANATIONS: Readonly<Record<Limit, readonly [what: string, setting: string, why: string]>> = {
  calls: ['limit on calls', 'limits.calls', WORST_CASE],
  tokens: ['limit on tokens', 'limits.tokens', WORST_CASE],
  cost: ['limit on cost', 'limits.costUsd', WORST_CASE],
  wallClock: ['limit on time', 'limits.wallClock', 'Calls that were under way were broken off.'],
  approval: ['deadline of approval', 'limits.approval', 'No one approved its plan in time.'],
};

/** Returns three sentences: which limit ended a run, why it may have done so early, and what to do. */
export function explainStop(stoppedBy: Limit, { id, rounds }: RunTree): readonly [string, string, string] {
  const [what, setting, why] = EXPLANATIONS[stoppedBy];
  const [orOption, option] = stoppedBy === 'cost' ? [', or --max-cost', ' --max-cost USD'] : ['', ''];
  const goOn = `; "temporal-conductor retry ${id} --from STEP${option}" then goes on from a step`;
  const hasPlan = rounds.some(({ childId, plan }) => childId === null && plan !== null);
  const remedy = `Raise ${setting} in the configuration${orOption}${hasPlan ? goOn : ''}.`;
  return [`The run was stopped by its ${what}.`, why, remedy];
}

export function howToApprove(id: string, ...words: readonly string[]): string {
  return ['temporal-conductor approve', id, ...words, '[--edit FILE | --reject REASON]'].join(' ');
}

/** State of a step; a failed one may still be retried, by its worker or by another. */
export type StepState = 'waiting' | 'running' | 'done' | 'failed';

export const MARKS = { waiting: '·', running: '▸', done: '✓', failed: '✗' } as const;

export function stepStateOf({ startedAt, error, output }: StepTrace): StepState {
  if (startedAt === null) return output === null ? 'waiting' : 'done';
  if (error !== null) return 'failed';
  return output === null ? 'running' : 'done';
}

export function isKept({ startedAt, output }: Pick<StepTrace, 'startedAt' | 'output'>): boolean {
  return startedAt === null && output !== null;
}

/** `850 ms`, `3.2 s`, `1 min 4 s`: between two times in ISO 8601, or to `now` if the second is missing. */
export function describeDuration(startedAt: string, endedAt: string | null, now = startedAt): string {
  return describeMs(Math.max(0, Date.parse(endedAt ?? now) - Date.parse(startedAt)));
}

/** Time from a run's start to its end, or to `now` if it is running; empty if that is not known. */
export function describeRunTime({ startedAt, endedAt }: RunSpan, now?: string): string {
  const end = endedAt ?? now;
  return startedAt === undefined || end === undefined ? '' : describeDuration(startedAt, end);
}

type RunSpan = Pick<SolveTrace, 'startedAt' | 'endedAt'>;

/** `in 6.2 s`: how long the Conductor took to write the plan of a round; empty while it does, or if nobody did. */
export function describePlanningTime({ planning }: Pick<RoundTrace, 'planning'>): string {
  if (planning === undefined || planning.endedAt === null) return '';
  return `in ${describeDuration(planning.startedAt, planning.endedAt)}`;
}

export function describeMs(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 120
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `12 s`, `3 min`, `5 h`, `12 days`: how long ago something was, roughly. */
export function describeAge(milliseconds: number): string {
  const minutes = milliseconds / 60_000;
  if (minutes < 1) return `${Math.max(0, Math.floor(minutes * 60))} s`;
  if (minutes < 120) return `${Math.floor(minutes)} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60 / 24)} days`;
}

/** `sees 1, 2`, or empty if a step sees nothing. Steps are counted from 0 in data and from 1 for people. */
export function describeSees(sees: readonly number[]): string {
  return sees.length === 0 ? '' : `sees ${sees.map((step) => step + 1).join(', ')}`;
}

export function describeWorker({ worker, fallbackFor }: Pick<StepTrace, 'worker' | 'fallbackFor'>): string {
  return fallbackFor === null ? worker : `${worker} for ${fallbackFor}`;
}

/** `Round 2 · review · depth 1 · accepted`, or `answered` without a review. Rounds, too, count from 1 for people. */
export function describeRound(round: RoundTrace): string {
  const depth = round.depth > 0 && `depth ${round.depth}`;
  const end = round.decision ?? (round.answer !== null && 'answered');
  return joinFacts(`Round ${round.round + 1}`, isReview(round) && 'review', depth, end);
}

export function describeSteps({ steps }: Plan, shown: (subtask: string) => string): string[] {
  return steps.map(({ worker, subtask, sees }, index) => {
    const who = sees.length === 0 ? worker : `${worker}, ${describeSees(sees)}`;
    return `  step ${index + 1} (${who}): ${shown(subtask)}`;
  });
}

/** Says where the plan of a round comes from, while there is none yet. */
export function describePlanning(round: Pick<RoundTrace, 'childId' | 'isGiven'>): string {
  if (round.isGiven === true) return 'the plan was given, so nobody writes it';
  return isReview(round) ? 'the Conductor is reviewing the answer' : 'the Conductor is writing a plan';
}

export function describePlan({ plan, decision }: Pick<RoundTrace, 'plan' | 'decision'>): string {
  if (plan === null) return decision === 'failed' ? 'no plan' : 'no plan yet';
  return plan.steps.length === 0 ? 'accepts the answer' : counted(plan.steps.length, 'step');
}

/** Returns why a run is degraded: a line for each permanent failure, with its place in the tree. */
export function whyDegraded(trace: SolveTrace): string[] {
  if (!trace.degraded) return [];
  return linesOf(trace, (round) => [...standInsOf(round), ...round.steps.flatMap(failureOf)]);
}

/** Returns who stands in for whom, and which reviews failed. */
export function whoStandsIn(trace: SolveTrace): string[] {
  return linesOf(trace, standInsOf);
}

function linesOf(trace: SolveTrace, tell: (round: RoundTrace) => string[]): string[] {
  return trace.rounds.flatMap((round) =>
    tell(round).map((line) => pathOf(trace, round) + line.replace(/\s+/g, ' ')),
  );
}

function standInsOf(round: RoundTrace): string[] {
  return [...describeStandIn(round), ...round.steps.flatMap(fallbackOf)];
}

/** Reads a plan beside an error as a stand-in; while there is no plan, the Conductor may still be asked again. */
function describeStandIn(round: RoundTrace): string[] {
  const { plan, error, decision } = round;
  if (error === undefined) return [];
  if (isReview(round) && decision === 'failed') {
    return [`the review failed, so the answer before it stands: ${error.message}`];
  }
  const [first, ...others] = plan?.steps ?? [];
  if (first === undefined) return [];
  const who = others.length === 0 ? first.worker : 'a plan of a person';
  return [`${who} stands in for the Conductor: ${error.message}`];
}

function fallbackOf({ index, worker, fallbackFor, skipped = [] }: StepTrace): string[] {
  if (fallbackFor === null) return [];
  const told = skipped.map(({ error }) => error.message);
  const reasons = fallbackFor === CONDUCTOR_ID ? ['the depth was lowered'] : told;
  return [[`step ${index + 1}: ${worker} stands in for ${fallbackFor}`, ...reasons].join(': ')];
}

function failureOf({ index, worker, error }: StepTrace): string[] {
  return error === null ? [] : [`step ${index + 1} (${worker}) failed: ${error.message}`];
}
