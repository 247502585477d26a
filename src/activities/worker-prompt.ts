import type { GivenText, WorkerPrompt } from '../plan/prompt/worker';
import type { WorkerRequest } from '../protocol/activity-contract';
import type { ModelCard } from '../protocol/cards';
import type { Background } from '../protocol/input';
import type { Store } from '../store/store';
import { readText } from '../store/texts';
import { readAsked } from './asked';

type Asked = Omit<WorkerRequest, 'worker'> & { readonly worker: Pick<ModelCard, 'layout' | 'instructions'> };

/** Reads the parts of a worker's prompt, with every text loaded from the store. */
export async function readPrompt(store: Store, request: Asked): Promise<WorkerPrompt> {
  const { subtask, sees, background = [], failed, worker } = request;
  const [asked, given, reply, ...visible] = await Promise.all([
    readAsked(store, request),
    readBackground(store, background),
    readText(store, failed?.reply ?? ''),
    ...sees.map(async (seen) => ({
      step: seen.step,
      subtask: await readText(store, seen.subtask),
      output: await readText(store, seen.output),
    })),
  ]);
  return {
    ...asked,
    layout: worker.layout,
    instructions: worker.instructions,
    subtask,
    background: given,
    sees: visible,
    ...(failed && { failed: { reply, problem: failed.problem.message } }),
  };
}

export function readBackground(store: Store, background: readonly Background[]): Promise<GivenText[]> {
  return Promise.all(
    background.map(async ({ subtask, output }) => ({
      subtask: subtask && (await readText(store, subtask)),
      output: await readText(store, output),
    })),
  );
}
