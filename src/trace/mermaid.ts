import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { previewOf } from '../protocol/text';
import { counted, describePlan, describeWorker, joinFacts, stepStateOf } from './describe';
import { oneLine } from './lines';
import { roundsOf } from './run-tree';
import { toolCallsOf } from './tool-calls';

/** Renders a run as a Mermaid flowchart. A step that sees no other follows the question, or the reviewed answer. */
export function renderMermaid(trace: SolveTrace): string {
  const { lines, last } = drawRounds(trace, trace.id, 'question');
  const { question, answer } = trace;
  const drawn =
    answer === null ? [] : [`answer([${label(previewOf(answer))}])`, `${last ?? 'question'} --> answer`];
  const body = [
    `question([${label(previewOf(question))}])`,
    ...lines,
    ...drawn,
    'classDef done stroke:green',
    'classDef failed stroke:red',
    'classDef running stroke:orange',
    'classDef waiting stroke-dasharray:4',
  ];
  return ['flowchart TD', ...body.map(indent)].join('\n');
}

interface Drawing {
  readonly lines: readonly string[];
  readonly last: string | null;
}

/** Draws the rounds of one run; `from` is the node that its first steps are given, null inside a child's box. */
function drawRounds(trace: SolveTrace, id: string, from: string | null): Drawing {
  const lines: string[] = [];
  for (const round of roundsOf(trace, id)) {
    const drawing = drawRound(trace, round, from);
    lines.push(...drawing.lines);
    // A failed round has no successor: the answer before it stands.
    if (round.decision !== 'failed') from = drawing.last ?? from;
  }
  return { lines, last: from };
}

function drawRound(trace: SolveTrace, round: RoundTrace, from: string | null): Drawing {
  const name = `round${trace.rounds.indexOf(round) + 1}`;
  if (round.plan?.steps.length === 0) {
    const accepted = `${name}{{${label('review', describePlan(round))}}}:::done`;
    return { lines: [accepted, ...(from === null ? [] : [`${from} --> ${name}`])], last: name };
  }
  const nodes = round.steps.map(({ index }) => `${name}step${index + 1}`);
  const lines = round.steps.flatMap((step, index) => {
    const node = nodes[index] ?? '';
    const seen = (round.plan?.steps[step.index]?.sees ?? []).flatMap((earlier) => nodes[earlier] ?? []);
    const sources = seen.length > 0 || from === null ? seen : [from];
    return [...drawStep(trace, round, step, node), ...sources.map((source) => `${source} --> ${node}`)];
  });
  return { lines, last: nodes.at(-1) ?? null };
}

function drawStep(trace: SolveTrace, round: RoundTrace, step: StepTrace, node: string): string[] {
  const { subtask = '' } = round.plan?.steps[step.index] ?? {};
  const tools = toolCallsOf(step).length;
  const who = joinFacts(describeWorker(step), tools > 0 && counted(tools, 'tool call'));
  const text = label(`${step.index + 1} ${who}`, subtask, ...reasonOf(round, step));
  const inside = step.childId === null ? [] : drawRounds(trace, step.childId, null).lines;
  if (inside.length === 0) return [`${node}[${text}]:::${stepStateOf(step)}`];
  return [`subgraph ${node}[${text}]`, ...inside.map(indent), 'end', `class ${node} ${stepStateOf(step)}`];
}

/** Returns why a step failed, or why it stands in for a plan. */
function reasonOf({ steps, error: planError }: RoundTrace, { error }: StepTrace): string[] {
  const problem = error ?? (steps.length === 1 ? planError : undefined);
  return problem === undefined ? [] : [problem.message];
}

function indent(line: string): string {
  return `  ${line}`;
}

function label(...lines: string[]): string {
  return `"${lines.map((line) => escape(oneLine(line, 60))).join('<br/>')}"`;
}

// Everything that Mermaid, or the Markdown inside its labels, could read as syntax. The colon is included since Mermaid
// takes `style …: … #…;` for a style, and list markers at the start since it refuses to draw lists.
const SYNTAX = /[^\p{L}\p{M}\p{N} ,.!?'/=%+*_…-]|^[-+*]|(?<=^\d{1,9})\./gu;

function escape(line: string): string {
  return line.replace(SYNTAX, (character) => `#${character.codePointAt(0) ?? 0};`);
}
