import type { Plan } from '../plan/plan';

/** The plan by which a model judges: one step, to which the texts and the words to choose from come as the question. */
export function planToJudge(judge: string): Plan {
  return { steps: [{ worker: judge, subtask: 'Judge an answer.', sees: [] }] };
}

/** The last line of a reply, where a judge's verdict stands, without typesetting. */
export function lastLineOf(reply: string): string {
  const line = reply.trimEnd().slice(-200).split('\n').at(-1) ?? '';
  return line.replace(/[`*.]/g, '').trim();
}
