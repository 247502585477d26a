import { readPrompt, turnsBefore } from '../../activities/keep-input';
import { HistoryDecoder, readHistory, readRunNow } from '../../client';
import type { Message } from '../../plan/plan';
import { workerMessages } from '../../plan/prompt/worker';
import type { WorkerRequest, WritePlanRequest, WritePlanResult } from '../../protocol/activity-contract';
import type { ConversationTurn } from '../../protocol/input';
import { CALL_WORKER, WRITE_PLAN } from '../../protocol/names';
import { readText } from '../../store/texts';
import type { Gateway } from '../gateway';
import { badRequest } from '../refusal';

type ConversationSource = Pick<Gateway, 'temporal' | 'store'>;

/** Conversation of a solve: the turns that it was asked with, and its answer. */
export interface SolveConversation {
  readonly asked: readonly ConversationTurn[];
  readonly answer: string | null;
  readonly isRunning: boolean;
}

export async function readConversation(
  { temporal, store }: ConversationSource,
  id: string,
): Promise<SolveConversation> {
  const { input, trace } = await readRunNow(temporal, id);
  const question = { role: 'user', content: await readText(store, trace.question) } as const;
  return {
    asked: [...(await turnsBefore(store, input)), question],
    answer: trace.answer === null ? null : await readText(store, trace.answer),
    isRunning: trace.status === 'running',
  };
}

/**
 * Returns the turns that a follow-up question continues.
 * @param name the field that refers to the solve, and its value
 * @throws Refusal if there is no answer to continue from
 */
export function turnsOfConversation(
  { asked, answer, isRunning }: SolveConversation,
  name: { readonly param: string; readonly value: string },
): ConversationTurn[] {
  if (answer !== null) return [...asked, { role: 'assistant', content: answer }];
  const state = isRunning ? 'has no answer yet: wait for it' : 'gave no answer: ask it again';
  throw badRequest(`${name.param}: ${name.value} ${state}`, name.param);
}

interface RoundOfRun {
  readonly id: string;
  readonly round: number;
}

/** Returns the messages last sent to a step's model; null if no model was called for the step. */
export async function readSentPrompt(
  { temporal, store }: ConversationSource,
  { id, round, step }: RoundOfRun & { readonly step: number },
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
  // Calls of the conversation are shown in words.
  return workerMessages(await readPrompt(store, { ...last, worker: last.worker, toolTurn: undefined }));
}

/** Returns all that the Conductor wrote for a round, reasoning included: its first reply, repairs and later plans. */
export async function readReplies(
  { temporal, store }: ConversationSource,
  { id, round }: RoundOfRun,
): Promise<readonly string[]> {
  const decoder = new HistoryDecoder(temporal.options.loadedDataConverter);
  const asked = new Set<string>();
  const replies: string[] = [];
  for await (const events of readHistory(temporal, { workflowId: id }, null)) {
    for (const event of events) {
      const { activityTaskScheduledEventAttributes: call, activityTaskCompletedEventAttributes: end } = event;
      if (call?.activityType?.name === WRITE_PLAN) {
        const request = (await decoder.first(call.input)) as WritePlanRequest;
        if (request.round === round) asked.add(String(event.eventId));
      } else if (end && asked.has(String(end.scheduledEventId))) {
        const { reply } = (await decoder.first(end.result)) as WritePlanResult;
        replies.push(await readText(store, reply));
      }
    }
  }
  return replies.filter((reply) => reply !== '');
}
