import type { Retry } from '../../client/retries';
import type { RoundTrace, SolveTrace, StepTrace } from '../../protocol/solve';
import { previewOf } from '../../protocol/text';
import { counted } from '../../trace/counted';
import { describeCost, describeTokens } from '../../trace/describe';
import { oneLine } from '../../trace/one-line';
import { describeDuration, describeSees, describeWorker, stateOf } from '../../trace/step-state';

const PREVIEW_COLUMNS = 120;

/** What happened between two looks at a run, a plain line an event: the view for logs and pipes. */
export function describeChanges(before: SolveTrace | null, after: SolveTrace): string[] {
  return [
    ...(before === null ? [`${after.id}: ${clip(previewOf(after.question))}`] : []),
    ...after.rounds.flatMap((round, index) => describeRound(before?.rounds[index], round)),
    ...(isEnd(before, after) ? [describeEnd(after)] : []),
  ];
}

/** Why a call waits for another attempt. */
export function describeRetry({ attempt, reason }: Retry): string {
  return `attempt ${attempt - 1} failed, trying again: ${reason}`;
}

function describeRound(before: RoundTrace | undefined, after: RoundTrace): string[] {
  const asked = before === undefined ? ['the Conductor is writing a plan'] : [];
  if (after.plan === null) return asked;
  const planned = before?.plan == null ? describePlan(after) : [];
  const steps = after.steps.flatMap((step, index) => describeStep(before?.steps[index], step));
  return [...asked, ...planned, ...steps];
}

function describePlan({ plan, steps }: RoundTrace): string[] {
  const waves = new Set(steps.map((step) => step.wave)).size;
  const list = (plan?.steps ?? []).map(({ worker, subtask, sees }, index) => {
    const who = [worker, describeSees(sees)].filter((part) => part !== '').join(', ');
    return `  step ${index + 1} (${who}): ${clip(subtask)}`;
  });
  return [`plan: ${counted(list.length, 'step')} in ${counted(waves, 'wave')}`, ...list];
}

function describeStep(before: StepTrace | undefined, after: StepTrace): string[] {
  const state = stateOf(after);
  const isNews = before === undefined || stateOf(before) !== state || before.worker !== after.worker;
  if (!isNews || state === 'waiting') return [];
  const who = `step ${after.index + 1} (${describeWorker(after)})`;
  if (state === 'running') return [`${who} started`];
  const [how, what] = state === 'failed' ? ['failed', after.error?.message ?? ''] : ['done', outputOf(after)];
  return [`${who} ${how}${timeOf(after)}: ${what}`];
}

function outputOf({ output }: StepTrace): string {
  return output === null ? '' : clip(previewOf(output));
}

function isEnd(before: SolveTrace | null, after: SolveTrace): boolean {
  return after.status !== 'running' && before?.status !== after.status;
}

function describeEnd(trace: SolveTrace): string {
  const { status, degraded, stoppedBy } = trace;
  const facts = [
    degraded ? `${status}, degraded` : status,
    stoppedBy === null ? '' : `stopped by ${stoppedBy}`,
    describeTokens(trace),
    describeCost(trace),
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

function timeOf({ startedAt, endedAt }: StepTrace): string {
  return startedAt === null || endedAt === null ? '' : ` in ${describeDuration(startedAt, endedAt)}`;
}

function clip(text: string): string {
  return oneLine(text, PREVIEW_COLUMNS);
}
