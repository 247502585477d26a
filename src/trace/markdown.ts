import { previewOf } from '../protocol/text';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { describeCost, describeTokens } from './describe';

/** The trace as markdown: what Temporal's UI shows of a run, and `trace --format markdown` prints. */
export function renderMarkdown(trace: SolveTrace): string {
  return [
    `**${trace.status}**${trace.degraded ? ' · degraded' : ''} · ${describeTokens(trace)} · ${describeCost(trace)}`,
    quote(previewOf(trace.question)),
    ...trace.rounds.flatMap(renderRound),
    ...(trace.answer === null ? [] : ['### Answer', previewOf(trace.answer)]),
    ...(trace.error === null ? [] : ['### Error', `\`${trace.error.type}\` ${trace.error.message}`]),
  ].join('\n\n');
}

function renderRound({ round, plan, steps }: RoundTrace): string[] {
  if (plan === null) return [`### Round ${round + 1}`, '_The Conductor is writing a plan._'];
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
      stateOf(step),
    ];
    return `| ${cells.map(cell).join(' | ')} |`;
  });
  return [`### Round ${round + 1}`, [...header, ...rows].join('\n')];
}

function workerOf(step: StepTrace | undefined, planned: string): string {
  return step?.fallbackFor == null ? planned : `${step.worker} (for ${step.fallbackFor})`;
}

function stateOf(step: StepTrace | undefined): string {
  if (step === undefined || step.startedAt === null) return 'waiting';
  if (step.error !== null) return `failed: ${step.error.message}`;
  return step.output === null ? 'running' : `done: ${clip(previewOf(step.output))}`;
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
