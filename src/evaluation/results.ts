import { z } from 'zod';
import type { Verdict } from '../grading/verdict';
import type { Plan } from '../plan/plan';
import { planSchema, textSchema } from '../protocol/solve';
import { conductorSchema, modelSchema, runSchema, workerSchema } from '../protocol/cards';

const plan: z.ZodType<Plan | null> = planSchema.nullable();
export const verdictSchema = z.enum<Verdict[]>(['correct', 'wrong', 'unparseable', 'ungraded']);

/** Sum of calls. `nanoUsd` is null if a price is unknown. */
const spentSchema = z.object({
  calls: z.int().nonnegative(),
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  nanoUsd: z.int().nonnegative().nullable(),
});
export type Spent = z.infer<typeof spentSchema>;

const toolCallSchema = z.object({
  step: z.int(),
  worker: z.string(),
  name: z.string(),
  /** JSON. */
  arguments: textSchema,
  output: textSchema.nullable(),
  outcome: z.string().nullable(),
});

/** One plan for a question that was carried out and judged. */
export const attemptSchema = z.object({
  plan,
  /** Reply of the prompted Conductor; present if its plan is to be imitated. */
  reply: textSchema.exactOptional(),
  problem: z.string().nullable(),
  answer: textSchema.nullable(),
  verdict: verdictSchema,
  /** Answer as the grader read it, its reason and its version; absent if it was not judged. */
  extracted: z.string().nullable().exactOptional(),
  reason: z.string().exactOptional(),
  graderVersion: z.string().exactOptional(),
  usage: z.object({ calls: z.number(), inputTokens: z.number(), outputTokens: z.number() }),
  /** 10⁻⁹ USD; null if a price is unknown. */
  nanoUsd: z.number().nullable(),
  /** Calls of tools that its steps made, in order; absent if they made none. */
  toolCalls: z.array(toolCallSchema).exactOptional(),
  /** Why an attempt is `ungraded` and does not count: provider or grader failure, or a limit was reached; else null. */
  invalidBecause: z.string().nullable(),
});
export type Attempt = Readonly<z.infer<typeof attemptSchema>>;

/** Judge's preference between two answers to a question without a known right answer, asked in both orders. */
const preferenceSchema = z.object({
  over: z.string(),
  /** `tied` also if the judge chose the same position in both orders. */
  outcome: z.enum(['won', 'lost', 'tied', 'unjudged']),
  reason: z.string(),
});
export type Preference = z.infer<typeof preferenceSchema>;

/** Result of one method on one question: a line of `results.jsonl`. */
export const methodRecordSchema = z.object({
  evaluation: z.string(),
  method: z.string(),
  question: z.string(),
  /** Line of the question in the set, from 0. */
  index: z.int().nonnegative(),
  topic: z.string().nullable(),
  verdict: verdictSchema,
  extracted: z.string().nullable(),
  reason: z.string(),
  graderVersion: z.string().nullable(),
  answer: textSchema.nullable(),
  /** Workflow ids of its solves: `temporal-conductor trace <id>` shows each. */
  runs: z.array(z.string()),
  spent: spentSchema,
  /** Calls missing from `spent`: lost in a crash or a timeout, at an unknown cost. */
  lost: z.int().nonnegative(),
  /** Cost of judging, in addition to `spent`; absent if no model was asked. */
  judging: spentSchema.exactOptional(),
  preference: preferenceSchema.exactOptional(),
  /** Part of `spent` that paid for writing plans. */
  planning: spentSchema,
  /** Total duration of its solves, waits in queues included. */
  latencyMs: z.int().nonnegative(),
  workers: z.record(z.string(), z.int()),
  plan,
  /** Checkpoint that wrote its plans; absent if none did, and in older records. */
  checkpoint: z.string().exactOptional(),
  /** Verdicts on step outputs by round, if a rule found the answer wrong; attempts count as one round. */
  outputs: z.array(z.array(verdictSchema)).exactOptional(),
  /** Number of plans carried out, corrections included. */
  rounds: z.int().nonnegative(),
  degraded: z.boolean(),
  stoppedBy: z.string().nullable(),
});
export type MethodRecord = z.infer<typeof methodRecordSchema>;

const logSchema = z.object({
  answered: z.int().positive(),
  unanswered: z.int().nonnegative(),
  known: z.int().nonnegative(),
});
export type LogFacts = z.infer<typeof logSchema>;

/** Training data of a learned router: answers of workers alone in an earlier evaluation. */
const learnedSchema = z.object({
  from: z.string(),
  questions: z.int().positive(),
  answers: z.int().positive(),
  repeated: z.int().nonnegative(),
  nanoUsd: z.int().nonnegative().nullable(),
});
export type Learned = z.infer<typeof learnedSchema>;

const madeWithSchema = z.object({
  version: z.string(),
  node: z.string(),
  /** SHA-256 of the prompts of the Conductor and of a worker, without the question. */
  prompts: z.object({
    conductor: z.string(),
    /** Hashes for the prompted Conductors among `conductors`, by name; absent in earlier versions. */
    conductors: z.record(z.string(), z.string()).exactOptional(),
    worker: z.string(),
  }),
});
export type MadeWith = z.infer<typeof madeWithSchema>;

export const evaluationManifestSchema = z.object({
  schema: z.literal(1),
  id: z.string(),
  file: z.string(),
  set: z.string(),
  /** Number of lines of the set, which has a line for each try of a question. */
  questions: z.int().positive(),
  /** Tries of each question by each method; absent: one. */
  repeats: z.int().positive().exactOptional(),
  /** Method whose comparison was declared primary before the run. */
  primary: z.string().exactOptional(),
  methods: z.array(z.string()),
  workers: z.array(z.string()),
  seed: z.int(),
  startedAt: z.string(),
  run: runSchema,
  /** Additional Conductors that methods use, by name. */
  conductors: z.record(z.string(), conductorSchema).exactOptional(),
  /** Workers outside the pool that methods use. */
  baselines: z.array(workerSchema).readonly().exactOptional(),
  verifier: modelSchema.exactOptional(),
  compares: z.boolean().exactOptional(),
  /** Present if the questions were drawn from the log. */
  log: logSchema.exactOptional(),
  learned: learnedSchema.exactOptional(),
  madeWith: madeWithSchema.exactOptional(),
});
export type EvaluationManifest = z.infer<typeof evaluationManifestSchema>;
