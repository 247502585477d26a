import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { previewOf } from '../protocol/text';
import {
  describeCost,
  describeEstimate,
  describeRound,
  describeTokens,
  explainStop,
  howToApprove,
  isKept,
  stateOf,
} from './describe';
import { waitingRuns } from './run-tree';

/** The trace as markdown: what Temporal's UI shows of a run, and `trace --format markdown` prints. */
export function renderMarkdown(trace: SolveTrace): string {
  const { status, degraded, checkpoint, question, estimate, rounds, answer, error, stoppedBy } = trace;
  return [
    `**${status}**${degraded ? ' · degraded' : ''} · ${describeTokens(trace)} · ${describeCost(trace)}`,
    quote(previewOf(question)),
    ...(checkpoint === null ? [] : [`Conductor: checkpoint \`${checkpoint}\``]),
    ...(estimate === undefined ? [] : [`Plan: ${describeEstimate(estimate)}`]),
    ...waitingRuns(trace).map((run) => `**Waits for approval**: \`${howToApprove(run)}\``),
    ...rounds.flatMap(renderRound),
    ...(answer === null ? [] : ['### Answer', previewOf(answer)]),
    ...(error === null ? [] : ['### Error', `\`${error.type}\` ${error.message}`]),
    ...(stoppedBy === null ? [] : [explainStop(stoppedBy, trace).join(' ')]),
  ].join('\n\n');
}

function renderRound(round: RoundTrace): string[] {
  const { plan, steps, decision, childId } = round;
  const { name, facts } = describeRound(round);
  const heading = [`### ${name}${facts}`, ...(childId === null ? [] : [`Child workflow \`${childId}\``])];
  if (plan === null) {
    return [
      ...heading,
      decision === 'failed' ? '_No plan came of it._' : '_The Conductor is writing a plan._',
    ];
  }
  if (plan.steps.length === 0) return [...heading, '_The Conductor accepts the answer._'];
  const header = ['| step | wave | worker | subtask | sees | state |', '|---|---|---|---|---|---|'];
  const rows = plan.steps.map((planned, index) => {
    const step = steps[index];
    const sees = planned.sees.map((seen) => seen + 1).join(', ');
    const cells = [
      index + 1,
      (step?.wave ?? 0) + 1,
      workerOf(step, planned.worker),
      planned.subtask,
      sees,
      describeState(step),
    ];
    return `| ${cells.map(cell).join(' | ')} |`;
  });
  return [...heading, [...header, ...rows].join('\n')];
}

function workerOf(step: StepTrace | undefined, planned: string): string {
  if (step === undefined) return planned;
  if (step.childId !== null) return `${planned} as \`${step.childId}\``;
  return step.fallbackFor === null ? planned : `${step.worker} (for ${step.fallbackFor})`;
}

function describeState(step: StepTrace | undefined): string {
  if (step === undefined) return 'waiting';
  const state = stateOf(step);
  if (step.error !== null) return `${state}: ${step.error.message}`;
  return step.output === null ? state : `${isKept(step) ? 'kept' : state}: ${clip(previewOf(step.output))}`;
}

const CELL_CHARACTERS = 100;

function clip(text: string): string {
  return text.length <= CELL_CHARACTERS ? text : `${text.slice(0, CELL_CHARACTERS)}…`;
}

function cell(value: string | number): string {
  return clip(String(value)).replace(/\s+/g, ' ').replaceAll('|', '\\|');
}

function quote(text: string): string {
  return text.replace(/^/gm, '> ');
}
