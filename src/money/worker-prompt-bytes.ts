import { workerMessages } from '../plan/worker-prompt';
import type { WorkerRequest } from '../protocol/activities';
import { backgroundBytes, hiddenBytes, messageBytes, PART_BYTES, standIn, sum } from './prompt-bytes';

/** An upper bound of the UTF-8 bytes that a step's worker is sent. Texts in the store need not be loaded. */
export function workerPromptBytes(request: WorkerRequest): number {
  const { question, subtask, sees, background = [], worker } = request;
  const messages = workerMessages({
    question: standIn(question),
    subtask,
    sees: sees.map((seen) => ({ ...seen, output: standIn(seen.output) })),
    layout: worker.kind === 'model' ? worker.layout : 'tagged',
  });
  return sum([
    messageBytes(messages),
    hiddenBytes(question),
    ...sees.map(({ output }) => hiddenBytes(output) + PART_BYTES),
    backgroundBytes(background),
    // The question and the own subtask.
    2 * PART_BYTES,
  ]);
}
