import { z } from 'zod';
import { ACCESS_MODES, EXAMPLE_SET_NAMES, jsonBytes } from '../plan/plan';
import { isRecord } from '../plan/validate';
import { planSchema } from './solve';
import { MAX_CALLS, MAX_COST_USD, MAX_STEPS } from './messages';
import { runSchema, solveRunSchema } from './cards';
import { INLINE_BYTES, isText, MAX_INLINE_QUESTION_BYTES, type Text } from './text';

// Checked in the local activity that every run begins with: the sandbox imports types alone, since zod would double its
// bundle and cost each run's context 8 ms of processor time to load.

const text = z.custom<Text>((value) => isText(value), {
  error: `expected a text of at most ${INLINE_BYTES} bytes, or a reference to one in the store`,
});

/** An earlier text that every call of a child may see: an output that its parent's plan showed it, or the first answer. */
const backgroundSchema = z.object({
  /** null for the answer that a review is about. */
  subtask: z.union([z.string(), text]).nullable(),
  output: text,
});
export type Background = z.infer<typeof backgroundSchema>;

/** One turn of a conversation, its text whole. */
export const conversationTurnSchema = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.string(),
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
  /** Number of the child's first plan: 0 for a step, one more than the reviewed round's for a review. */
  round: z.int().min(0),
  /** Index of the step of the parent's plan that the child is for; absent for a review. */
  step: z.int().min(0).optional(),
  /** The resolved configuration, its limits cut to what the child may use. */
  run: runSchema,
  background: z.array(backgroundSchema).readonly(),
  conversation: conversationSchema.optional(),
  /** JSON of the schema that the answer must fit. */
  answerSchema: text.optional(),
  review: reviewedSchema.optional(),
  hints: z.array(z.string()).readonly(),
});
export type Parent = z.infer<typeof parentSchema>;

const ids = z.array(z.string()).readonly();
const duration = z.string().max(100);

export const poolSchema = z.strictObject({ allow: ids.optional(), deny: ids.optional() });
export type PoolFilter = z.infer<typeof poolSchema>;

/** Limits of one run that replace the configured ones; null: no such limit. */
export const limitsInputSchema = z.strictObject({
  steps: z.int().min(1).max(MAX_STEPS).optional(),
  depth: z.int().min(0).nullable().optional(),
  calls: z.int().min(1).max(MAX_CALLS).optional(),
  tokens: z.int().min(1).nullable().optional(),
  costUsd: z.number().min(0).max(MAX_COST_USD).nullable().optional(),
  wallClock: duration.optional(),
  approval: duration.optional(),
});
export type LimitsInput = z.infer<typeof limitsInputSchema>;

/** In what the Conductor of one run differs from the configured one. */
const conductorChangeSchema = z.strictObject({
  /** Which of the configuration's `conductors` it is; absent: its `conductor`. */
  name: z.string().optional(),
  /** `<training run>/<name>` of the checkpoint that writes its plans. */
  checkpoint: z.string().optional(),
  examples: z.enum(EXAMPLE_SET_NAMES).optional(),
  access: z.enum(ACCESS_MODES).optional(),
});
export type ConductorChange = z.infer<typeof conductorChangeSchema>;

const questionSchema = z.custom<Text>(isQuestion, {
  error: `expected a text with at least a word and at most ${MAX_INLINE_QUESTION_BYTES} bytes, or a reference to one in the store`,
});

const turnSchema = conversationTurnSchema.extend({ content: questionSchema });
export type Turn = z.infer<typeof turnSchema>;

export type AnswerSchema = Readonly<Record<string, unknown>>;

const MAX_SCHEMA_BYTES = 64 * 1024;
/** Counts objects and lists alike. */
const MAX_SCHEMA_DEPTH = 64;

export const answerSchemaSchema = z.custom<AnswerSchema>(isAnswerSchema, {
  error: `expected a JSON Schema of at most ${MAX_SCHEMA_BYTES} bytes, nested at most ${MAX_SCHEMA_DEPTH} deep`,
});

const solveFields = z.strictObject({
  question: questionSchema.optional(),
  /** A conversation in place of the question, which is its last turn. */
  messages: z
    .array(turnSchema)
    .refine((turns) => turns.at(-1)?.role === 'user', {
      error: 'expected a conversation whose last turn is the question, of role user',
    })
    .readonly()
    .optional(),
  /** JSON Schema (2020-12, or draft 7 by its `$schema`) that the answer must fit. */
  answerSchema: answerSchemaSchema.optional(),
  /** The most output tokens of the call that writes the answer: text that is cut off there is the answer. */
  maxAnswerTokens: z.int().min(1).optional(),
  pool: poolSchema.optional(),
  limits: limitsInputSchema.optional(),
  conductor: conductorChangeSchema.optional(),
  /** Whether a person sees a plan before any of it is run: the first one, or those of children too. */
  approval: z.enum(['plan', 'all']).optional(),
  /** 1 is served first, 5 last; Temporal's default is 3. */
  priority: z.int().min(1).max(5).optional(),
  /** Whose run it is, where task queues must be fair between several: Temporal's fairness key. */
  tenant: z.string().min(1).max(64).optional(),
  /** A plan to run as it is, and for each step the output that is kept, or null if the step is to be run. */
  given: z
    .strictObject({ plan: planSchema, outputs: z.array(text.nullable()).readonly() })
    .refine(({ plan, outputs }) => plan.steps.length === outputs.length, {
      error: 'expected one output, or null, for each step of the plan',
    })
    .optional(),
  /** Settings as they were resolved before, which hold whatever is configured now. */
  run: solveRunSchema.optional(),
  /** Only in a solve that another one started: a client that sends it is refused. */
  parent: parentSchema.optional(),
  /** Sent to models that take one. */
  seed: z.int().optional(),
  /** Texts are told as they are written: see `ConductorClient.stream`. */
  live: z.literal(true).optional(),
});

/** The one argument of workflow `conductorSolve`. */
export const solveInputSchema = solveFields.refine(
  ({ question, messages }) => (question === undefined) !== (messages === undefined),
  { error: 'expected a question, or messages in its place', path: ['question'] },
);
export type SolveInput = z.infer<typeof solveInputSchema>;

function isAnswerSchema(value: unknown): value is AnswerSchema {
  return isRecord(value) && !isDeeper(value, MAX_SCHEMA_DEPTH) && jsonBytes(value) <= MAX_SCHEMA_BYTES;
}

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((part) => isDeeper(part, most - 1));
}

function isQuestion(value: unknown): boolean {
  return isText(value, MAX_INLINE_QUESTION_BYTES) && !(typeof value === 'string' && value.trim() === '');
}

/** Whether a run can be made of an unchecked input. */
export function isSolveInput(input: unknown): input is SolveInput {
  return solveInputSchema.safeParse(input).success;
}
