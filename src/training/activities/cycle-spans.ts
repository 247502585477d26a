import { activityInfo } from '@temporalio/activity';
import type { Attributes } from '@opentelemetry/api';
import { startInRun, whileInSpan } from '../../activities';
import { CONDUCTOR_ID } from '../../protocol/names';
import { ATTRIBUTES, OPERATIONS, vendorOf } from '../../telemetry/names';
import type { SpanStart } from '../../telemetry/spans';
import { askPolicy } from '../policy/client';
import type { Span } from '../summarize-cycle';

/** Place of a span in the trace of its cycle. */
export interface OfCycle {
  readonly cycle: number;
  /** Absent: a trace of the workflow's own. */
  readonly traceparent?: string | undefined;
}

/** Samples the plans of a group within a span, below which its requests hang. */
export function whileSampling<Sampled>(
  { cycle, round, traceparent }: OfCycle & { readonly round: 0 | 1 },
  sample: () => Promise<Sampled>,
): Promise<Sampled> {
  const start = startOf(`${OPERATIONS.plan} ${CONDUCTOR_ID}`, {
    [ATTRIBUTES.operation]: OPERATIONS.plan,
    [ATTRIBUTES.agent]: CONDUCTOR_ID,
    [ATTRIBUTES.purpose]: round === 0 ? 'plan' : 'review',
    [ATTRIBUTES.cycle]: cycle,
  });
  return whileInSpan(runOf(traceparent), start, sample);
}

/** Does what `askPolicy` does, within a span below the active one. */
export const askPolicyInSpan: typeof askPolicy = (policy, question, signal) => {
  const { model, baseUrl } = policy;
  const { n, seed, temperature, maxTokens } = question;
  const start = startOf(`${OPERATIONS.chat} ${model}`, {
    [ATTRIBUTES.operation]: OPERATIONS.chat,
    [ATTRIBUTES.provider]: vendorOf('policy', baseUrl),
    [ATTRIBUTES.model]: model,
    [ATTRIBUTES.choices]: n,
    [ATTRIBUTES.maxTokens]: maxTokens,
    [ATTRIBUTES.temperature]: temperature,
    ...(seed !== undefined && { [ATTRIBUTES.seed]: seed }),
  });
  const ask = () => askPolicy(policy, question, signal);
  return whileInSpan(runOf(undefined), { ...start, isRequest: true }, ask, {
    endOf: ({ promptTokenIds, samples }) => ({
      attributes: {
        [ATTRIBUTES.inputTokens]: promptTokenIds.length,
        [ATTRIBUTES.outputTokens]: samples.reduce((sum, each) => sum + each.completionTokenIds.length, 0),
      },
    }),
  });
};

/** When a cycle, and what the trainer did in it, was under way. */
export interface CycleHours extends OfCycle {
  /** Unix time in milliseconds. */
  readonly startedAt: number;
  readonly parts: readonly Span<'update' | 'publish'>[];
}

/** Tells a cycle that is over as a span, with the trainer's work in it, which another program has done. */
export async function tellCycle(
  trainRun: string,
  { cycle, traceparent, startedAt, parts }: CycleHours,
): Promise<void> {
  const start = (operation: 'train' | 'update' | 'publish', from: number): SpanStart => ({
    ...startOf(`${OPERATIONS[operation]} ${trainRun}`, {
      [ATTRIBUTES.operation]: OPERATIONS[operation],
      [ATTRIBUTES.cycle]: cycle,
    }),
    startedAt: from,
  });
  const whole = await startInRun(runOf(traceparent), start('train', startedAt));
  for (const { part, from, to } of parts) whole?.startChild(start(part, from))?.end({ endedAt: to });
  whole?.end();
}

function startOf(name: string, attributes: Attributes): SpanStart {
  const id = workflowOf();
  return { name, attributes: { ...attributes, [ATTRIBUTES.conversation]: id, [ATTRIBUTES.run]: id } };
}

function runOf(traceparent: string | undefined) {
  return { rootId: workflowOf(), traceparent };
}

/** Returns the id of the workflow that an activity works for. */
function workflowOf(): string {
  return activityInfo().workflowExecution?.workflowId ?? '';
}
