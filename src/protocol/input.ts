import { z } from 'zod';
import { ACCESS_MODES, EXAMPLE_SET_NAMES } from '../plan/plan';
import { answerSchemaSchema } from './answer-schema';
import { MAX_CALLER_TOOLS } from './caller-tools';
import { planSchema } from './solve';
import { LIMIT_RULES, MAX_CALLS, MAX_COST_USD, MAX_STEPS } from './messages';
import { runLimitsSchema, runSchema, solveRunSchema } from './cards';
import { A_TRACEPARENT, type Rule, TRACEPARENT } from './rules';
import { INLINE_BYTES, isText, MAX_INLINE_QUESTION_BYTES, type Text } from './text';

// The local activity that every run begins with checks inputs. The sandbox imports only types, since zod would double
// its bundle and cost each run's context 8 ms of processor time to load.

const text = z.custom<Text>((value) => isText(value), {
  error: `expected a text of at most ${INLINE_BYTES} bytes, or a reference to one in the store`,
});

/** Earlier text that every call of a child may see: an output that the parent's plan showed it, or the first answer. */
const backgroundSchema = z.object({
  /** null for the answer under review. */
  subtask: z.union([z.string(), text]).nullable(),
  output: text,
});
export type Background = z.infer<typeof backgroundSchema>;

/** Most turns of a conversation, and calls of one: far more than people and models exchange within its 1 MiB. */
export const MAX_TURNS = 5_000;

const toldCallSchema = z.strictObject({
  name: z.string(),
  /** JSON, or a text. */
  arguments: z.string(),
  /** Absent: there is no result. */
  output: z.string().optional(),
  isError: z.literal(true).optional(),
});

/** One turn of a conversation, with its whole text. */
export const conversationTurnSchema = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.string(),
  /** Functions that were called after this was said, which may be nothing. */
  calls: z.array(toldCallSchema).min(1).max(MAX_TURNS).readonly().optional(),
});
export type ConversationTurn = z.infer<typeof conversationTurnSchema>;

/** The turns before a question. */
const conversationSchema = z.object({
  turns: z.int().min(1),
  /** JSON of a list of `ConversationTurn`. */
  text,
});
export type Conversation = z.infer<typeof conversationSchema>;

const reviewedSchema = z.object({ plan: planSchema, answer: text });
export type ReviewedRound = z.infer<typeof reviewedSchema>;

const parentSchema = z.object({
  rootId: z.string(),
  depth: z.int().min(1),
  /** Number of the child's first plan: 0 for a step; for a review, the reviewed round's number plus one. */
  round: z.int().min(0),
  /** Index of the step of the parent's plan that the child is for; absent for a review. */
  step: z.int().min(0).optional(),
  /** Resolved configuration, with limits cut to what the child may use. */
  run: runSchema,
  background: z.array(backgroundSchema).readonly(),
  conversation: conversationSchema.optional(),
  /** JSON of the schema that the answer must fit. */
  answerSchema: text.optional(),
  review: reviewedSchema.optional(),
  hints: z.array(z.string()).readonly(),
});
export type Parent = z.infer<typeof parentSchema>;

/** Most workers that a filter names. */
export const MOST_POOL = 1_000;

const ids = z.array(z.string()).max(MOST_POOL).readonly();
const duration = z.string().max(100);

export const poolSchema = z.strictObject({ allow: ids.optional(), deny: ids.optional() });
export type PoolFilter = z.infer<typeof poolSchema>;

/** A number that is refused in the words of its rule, whatever is wrong with it. */
export function limitSchema(
  kind: (refusal: { error: string }) => z.ZodNumber,
  { expected }: Pick<Rule, 'expected'>,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): z.ZodNumber {
  const refusal = { error: `expected ${expected}` };
  return kind(refusal).min(least, refusal).max(most, refusal);
}

/** Limits of a run, refused wherever they are set as a run refuses a change of them. */
export const limitSchemas = {
  steps: limitSchema(z.int, LIMIT_RULES.steps, 1, MAX_STEPS),
  depth: limitSchema(z.int, LIMIT_RULES.depth, 0).nullable(),
  calls: limitSchema(z.int, LIMIT_RULES.calls, 1, MAX_CALLS),
  tokens: limitSchema(z.int, LIMIT_RULES.tokens, 1).nullable(),
  costUsd: limitSchema(z.number, LIMIT_RULES.costUsd, 0, MAX_COST_USD).nullable(),
};

/** Limits of one run that replace the configured ones; null: no such limit. */
export const limitsInputSchema = z.strictObject({
  steps: limitSchemas.steps.optional(),
  depth: limitSchemas.depth.optional(),
  calls: limitSchemas.calls.optional(),
  tokens: limitSchemas.tokens.optional(),
  costUsd: limitSchemas.costUsd.optional(),
  wallClock: duration.optional(),
  approval: duration.optional(),
});
export type LimitsInput = z.infer<typeof limitsInputSchema>;

/** Settings in which a run's Conductor differs from the configured one. */
const conductorChangeSchema = z.strictObject({
  /** Entry of the configuration's `conductors` to use; absent: its `conductor`. */
  name: z.string().optional(),
  /** `<training run>/<name>` of the checkpoint that writes its plans. */
  checkpoint: z.string().optional(),
  examples: z.enum(EXAMPLE_SET_NAMES).optional(),
  access: z.enum(ACCESS_MODES).optional(),
});
export type ConductorChange = z.infer<typeof conductorChangeSchema>;

const rightsSchema = z.strictObject({
  /** Names of models, or prefixes of names followed by `*`; null allows all. */
  models: z.array(z.string()).readonly().nullable(),
  /** The most that the limits may be. */
  limits: runLimitsSchema,
});
/** What the key behind a run may use. */
export type Rights = z.infer<typeof rightsSchema>;

const questionSchema = z.custom<Text>(isQuestion, {
  error: `expected a text with at least a word and at most ${MAX_INLINE_QUESTION_BYTES} bytes, or a reference to one in the store`,
});

const turnSchema = conversationTurnSchema.omit({ calls: true }).extend({ content: questionSchema });

/** Functions of the caller that models may ask for. */
const keptCallerToolsSchema = z.strictObject({
  /** JSON of a list of `CallerTool`. */
  list: text,
  names: z.array(z.string()).max(MAX_CALLER_TOOLS).readonly(),
  /** Only the step that writes the answer may ask for them. */
  lastStep: z.literal(true).optional(),
  /** The first turn of that step must ask for one. */
  mustCall: z.literal(true).optional(),
});

const solveFields = z.strictObject({
  question: questionSchema.optional(),
  /** Conversation in place of the question, which is its last turn. */
  messages: z
    .array(turnSchema)
    .max(MAX_TURNS)
    .refine((turns) => turns.at(-1)?.role === 'user', {
      error: 'expected a conversation whose last turn is the question, of role user',
    })
    .readonly()
    .optional(),
  /** Turns before the question, for a conversation too long to be `messages`. */
  conversation: conversationSchema.optional(),
  /** JSON Schema (2020-12, or draft 7 by its `$schema`) that the answer must fit. */
  answerSchema: answerSchemaSchema.optional(),
  callerTools: keptCallerToolsSchema.optional(),
  /** Most output tokens of the call that writes the answer. An answer cut off there still counts as the answer. */
  maxAnswerTokens: z.int().min(1).optional(),
  pool: poolSchema.optional(),
  limits: limitsInputSchema.optional(),
  conductor: conductorChangeSchema.optional(),
  /** What the key behind the run may use; absent if no key started it. Only an operator's message widens it. */
  rights: rightsSchema.optional(),
  /** Whether a person must approve a plan before it runs: only the first one, or those of children too. */
  approval: z.enum(['plan', 'all']).optional(),
  /** 1 is served first, 5 last; Temporal's default is 3. */
  priority: z.int().min(1).max(5).optional(),
  /** Owner of the run, for fair task queues between several: Temporal's fairness key. */
  tenant: z.string().min(1).max(64).optional(),
  /** Plan to run as it is, with an output to keep for each step, or null for a step that must run. */
  given: z
    .strictObject({ plan: planSchema, outputs: z.array(text.nullable()).readonly() })
    .refine(({ plan, outputs }) => plan.steps.length === outputs.length, {
      error: 'expected one output, or null, for each step of the plan',
    })
    .optional(),
  /** Settings resolved earlier, which override the present configuration. */
  run: solveRunSchema.optional(),
  /** Only set by a solve that starts another; a client that sends it is refused. */
  parent: parentSchema.optional(),
  /** Sent to models that accept a seed. */
  seed: z.int().optional(),
  /** Streams texts as they are written: see `ConductorClient.stream`. */
  live: z.literal(true).optional(),
  /** W3C name of the span that the run's own spans hang below: see docs/telemetry.md. */
  traceparent: z.string().regex(TRACEPARENT, A_TRACEPARENT).optional(),
});

/** The one argument of workflow `conductorSolve`. */
export const solveInputSchema = solveFields
  .refine(({ question, messages }) => (question === undefined) !== (messages === undefined), {
    error: 'expected a question, or messages in its place',
    path: ['question'],
  })
  .refine(({ messages, conversation }) => messages === undefined || conversation === undefined, {
    error: 'expected no conversation beside messages, which have all turns',
    path: ['conversation'],
  });
export type SolveInput = z.infer<typeof solveInputSchema>;

function isQuestion(value: unknown): boolean {
  return isText(value, MAX_INLINE_QUESTION_BYTES) && !(typeof value === 'string' && value.trim() === '');
}

/** Whether an unchecked input is valid for a run. */
export function isSolveInput(input: unknown): input is SolveInput {
  return solveInputSchema.safeParse(input).success;
}
