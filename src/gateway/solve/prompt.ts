import { readPrompt } from '../../activities/worker-prompt';
import { HistoryDecoder, readHistory } from '../../client/history';
import type { Message } from '../../plan/plan';
import { workerMessages } from '../../plan/prompt/worker';
import type { WorkerRequest } from '../../protocol/activity-contract';
import { CALL_WORKER } from '../../protocol/names';
import type { Gateway } from '../gateway';

interface StepOfRun {
  readonly id: string;
  readonly round: number;
  readonly step: number;
}

/** What a step's model was sent last, in its words; null where no model was called for it. */
export async function readSentPrompt(
  { temporal, store }: Pick<Gateway, 'temporal' | 'store'>,
  { id, round, step }: StepOfRun,
): Promise<readonly Message[] | null> {
  const decoder = new HistoryDecoder(temporal.options.loadedDataConverter);
  let last: WorkerRequest | null = null;
  for await (const events of readHistory(temporal, { workflowId: id }, null)) {
    for (const { activityTaskScheduledEventAttributes: call } of events) {
      if (call?.activityType?.name !== CALL_WORKER) continue;
      const request = (await decoder.first(call.input)) as WorkerRequest;
      if (request.round === round && request.step === step) last = request;
    }
  }
  if (last?.worker.kind !== 'model') return null;
  return workerMessages(await readPrompt(store, { ...last, worker: last.worker }));
}
