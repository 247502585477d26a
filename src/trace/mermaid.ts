import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { previewOf } from '../protocol/text';
import { oneLine } from './one-line';
import { describeWorker, stateOf } from './step-state';

const LABEL_CHARACTERS = 60;

/**
 * The plan as a Mermaid flowchart: steps, and an arrow for each output that a step may see.
 *
 * Every step is given the question; its arrow is drawn only to those that see nothing else.
 */
export function renderMermaid(trace: SolveTrace): string {
  const last = trace.rounds.at(-1)?.steps.at(-1);
  const lastNode = last === undefined ? 'question' : nodeOf(trace.rounds.length - 1, last.index);
  return [
    'flowchart TD',
    `  question([${label(previewOf(trace.question))}])`,
    ...trace.rounds.flatMap(drawRound),
    ...(trace.answer === null
      ? []
      : [`  answer([${label(previewOf(trace.answer))}])`, `  ${lastNode} --> answer`]),
    '  classDef done stroke:green',
    '  classDef failed stroke:red',
    '  classDef running stroke:orange',
    '  classDef waiting stroke-dasharray:4',
  ].join('\n');
}

function drawRound(round: RoundTrace, ordinal: number): string[] {
  return round.steps.flatMap((step) => {
    const { subtask = '', sees = [] } = round.plan?.steps[step.index] ?? {};
    const node = nodeOf(ordinal, step.index);
    const seen = sees.map((index) => nodeOf(ordinal, index));
    return [
      `  ${node}[${label(titleOf(step), subtask)}]:::${stateOf(step)}`,
      ...(seen.length === 0 ? ['question'] : seen).map((from) => `  ${from} --> ${node}`),
    ];
  });
}

function nodeOf(round: number, step: number): string {
  return `round${round + 1}step${step + 1}`;
}

function titleOf(step: StepTrace): string {
  return `${step.index + 1} ${describeWorker(step)}`;
}

function label(...lines: string[]): string {
  return `"${lines.map((line) => escape(oneLine(line, LABEL_CHARACTERS))).join('<br/>')}"`;
}

// Whatever Mermaid or the Markdown inside its labels could read as syntax. The colon is among them since Mermaid takes
// `style …: … #…;` for a style, and the beginnings of lists since it refuses to draw them.
const SYNTAX = /[^\p{L}\p{M}\p{N} ,.!?'/=%+*_…-]|^[-+*]|(?<=^\d+)\./gu;

/** Mermaid writes a character as `#` and its number. */
function escape(line: string): string {
  return line.replace(SYNTAX, (character) => `#${character.codePointAt(0) ?? 0};`);
}
