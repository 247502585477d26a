import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { previewOf } from '../protocol/text';
import {
  CUT,
  describePlanning,
  describeCost,
  describeEstimate,
  describeRound,
  describeRunTime,
  describeTokens,
  explainStop,
  isKept,
  joinFacts,
  stepStateOf,
  whoStandsIn,
} from './describe';
import { waitsOf } from './waits';
import { describeSteered } from './steered';
import { describeOutcome, type PlacedCall, toolCallsOf } from './tool-calls';

/** Renders the trace as Markdown, for Temporal's UI and `trace --format markdown`. */
export function renderTraceMarkdown(trace: SolveTrace): string {
  const {
    status,
    degraded,
    answerCut,
    checkpoint,
    question,
    estimate,
    rounds,
    answer,
    error,
    stoppedBy,
    steered = [],
  } = trace;
  const lost = joinFacts(degraded && 'degraded', answerCut && CUT);
  return [
    joinFacts(`**${status}**`, describeRunTime(trace), lost, describeTokens(trace), describeCost(trace)),
    previewOf(question).replace(/^/gm, '> '),
    ...(checkpoint === null ? [] : [`Conductor: checkpoint \`${checkpoint}\``]),
    // Beside the final cost, an estimate would only confuse.
    ...(estimate === undefined || status !== 'running' ? [] : [`Plan: ${describeEstimate(estimate)}`]),
    ...whoStandsIn(trace).map((line) => `**Degraded**: ${line}`),
    // Quotes it, as the question is, so that what a person wrote adds no part of its own.
    ...steered.map((message) => `Told: ${describeSteered(message)}`.replace(/^/gm, '> ')),
    ...waitsOf(trace).map(({ what, how }) => `**Waits for approval**: \`${how}\`\n\n> ${what}`),
    ...rounds.flatMap((round) => [
      `### ${describeRound(round)}`,
      ...(round.childId === null ? [] : [`Child workflow \`${round.childId}\``]),
      renderPlan(round),
    ]),
    ...(answer === null ? [] : ['### Answer', previewOf(answer)]),
    ...(error === null ? [] : ['### Error', `\`${error.type}\` ${error.message}`]),
    ...(stoppedBy === null ? [] : [explainStop(stoppedBy, trace).join(' ')]),
  ].join('\n\n');
}

function renderPlan(round: RoundTrace): string {
  const { plan, steps, decision } = round;
  if (plan === null) {
    return decision === 'failed' ? '_No plan came of it._' : `_Under way: ${describePlanning(round)}._`;
  }
  if (plan.steps.length === 0) return '_The Conductor accepts the answer._';
  const rows = steps.map((step) => {
    const { subtask = '', sees = [] } = plan.steps[step.index] ?? {};
    const seen = sees.map((index) => index + 1).join(', ');
    const cells = [step.index + 1, step.wave + 1, workerOf(step), clip(subtask), seen, describeState(step)];
    return rowOf(cells);
  });
  const header = rowOf(['step', 'wave', 'worker', 'subtask', 'sees', 'state']);
  const table = [header, '|---|---|---|---|---|---|', ...rows].join('\n');
  const calls = steps.flatMap((step) => toolCallsOf(step).map((call) => renderToolCall(step, call)));
  return calls.length === 0 ? table : [table, calls.join('\n')].join('\n\n');
}

/** Renders a call of a tool as an item of a list. What models and servers wrote stands in code, which is not rendered. */
function renderToolCall({ index }: StepTrace, call: PlacedCall): string {
  const { worker, name, arguments: given, output } = call;
  const asked = codeOf(`${name} ${previewOf(given)}`);
  const told = output === null ? '' : `: ${codeOf(previewOf(output))}`;
  return `- step ${index + 1}, ${worker}: ${asked} → ${describeOutcome(call)}${told}`;
}

/** Returns a text as one line of code: its fence is longer than any in the text. */
function codeOf(text: string): string {
  const line = clip(text.replace(/[\s\p{Cc}]+/gu, ' ').trim());
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([fence]) => fence.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence} ${line} ${fence}`;
}

/** Adds a no-break space to each cell: Temporal's UI sets the columns of a table without a gap. */
function rowOf(cells: readonly (string | number)[]): string {
  return `| ${cells.map((value) => `${cell(value)}\u00a0`).join(' | ')} |`;
}

function workerOf({ worker, childId, fallbackFor }: StepTrace): string {
  if (childId !== null) return `${worker} as \`${childId}\``;
  return fallbackFor === null ? worker : `${worker} (for ${fallbackFor})`;
}

function describeState(step: StepTrace): string {
  const state = stepStateOf(step);
  if (step.error !== null) return `${state}: ${step.error.message}`;
  return step.output === null ? state : `${isKept(step) ? 'kept' : state}: ${clip(previewOf(step.output))}`;
}

function cell(value: string | number): string {
  return String(value).replace(/\s+/g, ' ').replaceAll('|', '\\|');
}

function clip(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}
