import { z } from 'zod';
import { LIMIT_NAMES, MAX_STEPS } from './messages';
import type { Text } from './text';

// Trace of a run, with its plans and calls. Workflows import only the types: their sandbox must not load zod.

const stepSchema = z.strictObject({
  worker: z.string().min(1),
  subtask: z.string(),
  sees: z.array(z.int().nonnegative()).max(MAX_STEPS).readonly(),
});
export const planSchema = z.strictObject({ steps: z.array(stepSchema).max(MAX_STEPS).readonly() });

/** A failure as the trace shows it: a type of `failures.ts` and one sentence, free of secrets. */
export const problemSchema = z.object({ type: z.string(), message: z.string() });
export type Problem = z.infer<typeof problemSchema>;

/** Tokens as the provider counted them; cached, written and reasoning tokens are included in input and output. */
const usageSchema = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedInputTokens: z.int(),
  reasoningTokens: z.int(),
  /** Input written to the provider's cache, which may cost more than other input; absent if there was none. */
  cacheWriteTokens: z.int().exactOptional(),
  /** Part of those that Anthropic keeps for an hour instead of five minutes. */
  hourCacheWriteTokens: z.int().exactOptional(),
  /** The vendor's word for how it served the request, e.g. `flex`, `batch`; absent for the usual tier. */
  serviceTier: z.string().exactOptional(),
});
export type Usage = z.infer<typeof usageSchema>;

/** One request to a model, answered or not, or priced call of a tool. The ledger holds one such row per attempt. */
export const callSchema = z.object({
  /** SHA-256 over workflow id, run id, activity id and the canonical request: the same for each attempt. */
  callId: z.string(),
  /** `review`: the Conductor reads an earlier answer; `tool`: a call of the tool that `model` names. */
  purpose: z.enum(['plan', 'repair', 'step', 'review', 'tool']),
  round: z.int(),
  /** Index of the step in its plan; null for a call of the Conductor itself. */
  step: z.int().nullable(),
  attempt: z.int(),
  worker: z.string(),
  model: z.string(),
  /** Absent for the run's own calls. */
  childId: z.string().exactOptional(),
  error: problemSchema.nullable(),
  /** null while unknown: the request may have been billed, but nothing says how much. */
  usage: usageSchema.nullable(),
  /** 10⁻⁹ USD; null while unknown, 0 only if nothing was billed. */
  nanoUsd: z.int().nullable(),
  /** Charge reported by the provider, if it was too low to be believed and the price was booked. */
  reportedNanoUsd: z.int().exactOptional(),
});
export type Call = z.infer<typeof callSchema>;
export type CallPurpose = Call['purpose'];

/** Longest accepted question in UTF-8 bytes: far beyond any model's context, well below a payload's limit. */
export const MAX_QUESTION_BYTES = 1024 * 1024;

export const textSchema: z.ZodType<Text> = z.union([
  z.string(),
  z.object({ ref: z.string(), bytes: z.number(), preview: z.string() }),
]);

/** Times in ISO 8601; the end is null while it lasts. */
const spanSchema = z.object({ startedAt: z.string(), endedAt: z.string().nullable() });

const limitValuesSchema = z.partialRecord(z.enum(LIMIT_NAMES), z.number().nullable());

/** A message that steered a run, as the run took it. */
const steeredSchema = z.object({
  kind: z.enum(['hint', 'limits', 'approved', 'edited', 'rejected']),
  at: z.string(),
  /** Name of the key that sent it; absent if no key did. */
  by: z.string().exactOptional(),
  /** `approval.id` of the call of a tool that was decided on; absent if it was the plan. */
  call: z.string().exactOptional(),
  /** The hint, or the reason for a rejection. */
  text: z.string().exactOptional(),
  /** The limits that were changed; null: lifted. */
  limits: limitValuesSchema.exactOptional(),
  /** Those of them that held at more, since as much was spent or set aside; null: lifted. */
  held: limitValuesSchema.exactOptional(),
});
export type Steered = z.infer<typeof steeredSchema>;

const amountSchema = z.object({ calls: z.int(), tokens: z.int(), nanoUsd: z.int() });

function traceSchema<T extends z.ZodType>(text: T) {
  const toolCall = z.object({
    name: z.string(),
    /** JSON of the arguments, as the model wrote it, or a person in its place. */
    arguments: text,
    /** What the model was told; null while the call runs, or if it was never made. */
    output: text.nullable(),
    outcome: z.enum(['ok', 'error', 'unknown', 'denied', 'expired']).nullable(),
    /** Set if a person decides on it; the decision is null while nobody has. */
    approval: z
      .object({
        id: z.string(),
        decision: z.enum(['approved', 'edited', 'rejected']).nullable(),
        at: z.string().nullable(),
        by: z.string().exactOptional(),
      })
      .exactOptional(),
    /** Id under which the caller gives its result; absent if it is not one of the caller's functions. */
    callerId: z.string().exactOptional(),
    startedAt: z.string().nullable(),
    endedAt: z.string().nullable(),
  });
  const turn = z.object({ worker: z.string(), turn: z.int(), calls: z.array(toolCall) });
  const step = z.object({
    index: z.int(),
    wave: z.int(),
    /** Worker that answered: the planned one, or the fallback that stood in. */
    worker: z.string(),
    model: z.string().nullable(),
    output: text.nullable(),
    /** Thoughts that the model wrote before its output, between tags such as `<think>`; absent if there were none. */
    thoughts: text.optional(),
    /** The output was cut off at `maxAnswerTokens`; absent if it was not. */
    cut: z.literal(true).exactOptional(),
    error: problemSchema.nullable(),
    childId: z.string().nullable(),
    /** The planned worker's id if a fallback answered. */
    fallbackFor: z.string().nullable(),
    dropped: z.array(z.string()).readonly(),
    /** Workers tried before this one, in order, and why each gave no answer; absent if there were none. */
    skipped: z.array(z.object({ worker: z.string(), error: problemSchema })).exactOptional(),
    /** Turns of its models that asked for tools, in order, those of workers that failed included; absent if none did. */
    turns: z.array(turn).exactOptional(),
    startedAt: z.string().nullable(),
    endedAt: z.string().nullable(),
  });
  const round = z.object({
    round: z.int(),
    depth: z.int(),
    childId: z.string().nullable(),
    /** The configuration or the input gave the plan, so no model was asked for it. */
    isGiven: z.literal(true).exactOptional(),
    plan: planSchema.nullable(),
    /** From the first request for a plan to the last reply; absent if nobody was asked, and in older runs. */
    planning: spanSchema.exactOptional(),
    /** When its plans waited for a person; absent if none did, and in older runs. */
    approvals: z.array(spanSchema).exactOptional(),
    /** Why the Conductor wrote no plan, so that a worker stands in for it, or why a review failed; otherwise absent. */
    error: problemSchema.exactOptional(),
    steps: z.array(step),
    answer: text.nullable(),
    decision: z.enum(['accepted', 'revised', 'failed']).nullable(),
  });
  return z.object({
    id: z.string(),
    runId: z.string(),
    status: z.enum(['running', 'completed', 'failed', 'cancelled']),
    /** Absent in runs of older versions. */
    startedAt: z.string().exactOptional(),
    /** Absent while it runs. */
    endedAt: z.string().exactOptional(),
    question: text,
    answer: text.nullable(),
    /** The answer was cut off at `maxAnswerTokens`; absent if it was not. */
    answerCut: z.literal(true).exactOptional(),
    /** Something failed for good on the way: a plan, a step, or a worker that a fallback stood in for. */
    degraded: z.boolean(),
    stoppedBy: z.enum(['calls', 'tokens', 'cost', 'wallClock', 'approval']).nullable(),
    error: problemSchema.nullable(),
    checkpoint: z.string().nullable(),
    rounds: z.array(round),
    calls: z.array(callSchema),
    /** Hints, changes of limits and verdicts that reached the run itself, in their order; absent if none did. */
    steered: z.array(steeredSchema).exactOptional(),
    usage: z.object({ inputTokens: z.int(), outputTokens: z.int(), calls: z.int() }),
    costUsd: z.number(),
    /** True if some call's cost is unknown: the real sum is at least `costUsd`. */
    costIsLowerBound: z.boolean(),
    /** Amount counted against the limits: known spending, and the worst case of unknown spending. */
    spentAtMost: amountSchema.exactOptional(),
    /** Most that the plan may cost, known before its first step; `nanoUsd` null if a price is unknown. */
    estimate: amountSchema
      .extend({ nanoUsd: z.int().nullable(), ownSteps: z.int().exactOptional() })
      .exactOptional(),
    /**
     * `approval`: a plan or a call waits for a person; `caller`: a call waits for the caller's result; `limit`, only told by the run itself: a step waits until it fits the limits;
     * `store`, only told by clients: a call waits until the store can be used.
     */
    waitsFor: z.enum(['approval', 'caller', 'limit', 'store', 'pause']).exactOptional(),
    /** Why the run waits, if that is not plain from `waitsFor`. */
    waitReason: z.string().exactOptional(),
  });
}

/** Result of a solve for people and programs: every text whole. */
export const solveResultSchema = traceSchema(z.string());
export type SolveResult = z.infer<typeof solveResultSchema>;

/** Trace as it travels through Temporal: long texts by reference. */
export const solveTraceSchema = traceSchema(textSchema);
export type SolveTrace = z.infer<typeof solveTraceSchema>;
export type RoundTrace = SolveTrace['rounds'][number];
export type StepTrace = RoundTrace['steps'][number];
