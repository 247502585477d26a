import type { Attributes } from '@opentelemetry/api';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { FAILURES } from '../../protocol/failures';
import type { LedgerRow } from '../../store/ledger';
import { ATTRIBUTES, FINISH_REASONS, OPERATIONS, vendorOf, withoutWords } from '../../telemetry/names';
import type { SpanStart } from '../../telemetry/spans';
import { DiagnosedError } from '../models/diagnose';
import type { ModelReply, ModelRequest } from '../models/model';

/** What a request asks of a model. */
export type AskedModel = Omit<ModelRequest, 'apiKey' | 'callId' | 'signal'>;

/** Attributes that say where in which run something happens. */
export function placeOf({
  rootId,
  workflowId,
  round,
  step,
}: Pick<LedgerRow, 'rootId' | 'workflowId' | 'round' | 'step'>): Attributes {
  return {
    [ATTRIBUTES.conversation]: withoutWords(rootId),
    [ATTRIBUTES.run]: withoutWords(workflowId),
    [ATTRIBUTES.round]: round + 1,
    ...(step !== null && { [ATTRIBUTES.step]: step + 1 }),
  };
}

/** Returns the type of what was thrown; '' for what has none. */
export function typeOfThrown(error: unknown): string {
  if (error instanceof CancelledFailure) return FAILURES.cancelled;
  if (error instanceof DiagnosedError) return error.diagnosis.type;
  return error instanceof ApplicationFailure ? (error.type ?? '') : '';
}

/** Describes the request of an open row, before it is sent. */
export function chatStart({ card, outputSchema }: AskedModel, row: LedgerRow): SpanStart {
  const { provider, model, baseUrl, idleTimeoutMs } = card;
  return {
    name: `${OPERATIONS.chat} ${model}`,
    isRequest: provider !== 'local',
    attributes: {
      [ATTRIBUTES.operation]: OPERATIONS.chat,
      [ATTRIBUTES.provider]: vendorOf(provider, baseUrl),
      [ATTRIBUTES.model]: model,
      [ATTRIBUTES.outputType]: outputSchema === undefined ? 'text' : 'json',
      ...(idleTimeoutMs !== undefined && { [ATTRIBUTES.stream]: true }),
      ...(baseUrl !== null && addressOf(baseUrl)),
      [ATTRIBUTES.purpose]: row.purpose,
      [ATTRIBUTES.attempt]: row.attempt,
      ...placeOf(row),
    },
  };
}

/** Returns where a request goes; a configured URL has been checked, but one in a run's own cards may be none. */
function addressOf(baseUrl: string): Attributes {
  if (!URL.canParse(baseUrl)) return {};
  const { hostname, port, protocol } = new URL(baseUrl);
  const usual = protocol === 'https:' ? 443 : 80;
  return { [ATTRIBUTES.server]: hostname, [ATTRIBUTES.port]: port === '' ? usual : Number(port) };
}

/** Returns the settings that a request was sent with: those that its model does not take were left out. */
export function settingsOf(
  { card, maxOutputTokens, seed }: AskedModel,
  reply: ModelReply | null,
): Attributes {
  const { temperature, topP, topK, presencePenalty, effort } = card;
  const settings = { temperature: temperature ?? undefined, topP, topK, presencePenalty, seed };
  const all = { ...settings, effort: effort ?? undefined };
  const names = Object.keys(all) as (keyof typeof all)[];
  const sent = reply === null ? [] : names.filter((name) => !reply.dropped.includes(name));
  return {
    [ATTRIBUTES.maxTokens]: maxOutputTokens,
    ...Object.fromEntries(sent.map((name) => [ATTRIBUTES[name], all[name]])),
  };
}

/** Returns what a request used, as its closed row has it, and how its answer ended. */
export function countsOf({ usage, nanoUsd }: LedgerRow, reply: ModelReply | null): Attributes {
  const asksForTools = reply?.turn?.some(({ kind }) => kind === 'call') === true;
  const finish = reply && (asksForTools ? 'tool_call' : FINISH_REASONS[reply.finish]);
  const written = usage?.cacheWriteTokens ?? 0;
  return {
    ...(finish !== null && { [ATTRIBUTES.finishReasons]: [finish] }),
    ...(nanoUsd !== null && { [ATTRIBUTES.costUsd]: nanoUsd / 1e9 }),
    ...(usage !== null && {
      [ATTRIBUTES.inputTokens]: usage.inputTokens,
      [ATTRIBUTES.outputTokens]: usage.outputTokens,
      [ATTRIBUTES.cacheRead]: usage.cachedInputTokens,
      [ATTRIBUTES.cacheWrite]: written,
      [ATTRIBUTES.cacheCreation]: written,
      [ATTRIBUTES.reasoning]: usage.reasoningTokens,
    }),
  };
}
