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

/** One plan for a question that was carried out and judged. */
export const attemptSchema = z.object({
  plan,
  /** What the prompted Conductor wrote, where its plan is to be imitated. */
  reply: textSchema.exactOptional(),
  problem: z.string().nullable(),
  answer: textSchema.nullable(),
  verdict: verdictSchema,
  /** Answer as the grader read it, its reason and its version; absent if it was not judged. */
  extracted: z.string().nullable().exactOptional(),
  reason: z.string().exactOptional(),
  graderVersion: z.string().exactOptional(),
  usage: z.object({ calls: z.number(), inputTokens: z.number(), outputTokens: z.number() }),
  /** 10⁻⁹ USD; null where a price is unknown. */
  nanoUsd: z.number().nullable(),
  /** Why it says nothing about its plan, and is `ungraded`: a provider or a grader failed, or a limit was reached; else null. */
  invalidBecause: z.string().nullable(),
});
export type Attempt = Readonly<z.infer<typeof attemptSchema>>;

/** Judge's preference between two answers to a question without a known right answer, asked in both orders. */
const preferenceSchema = z.object({
  over: z.string(),
  /** `tied` too where the judge took the one that stood first, or second, both times. */
  outcome: z.enum(['won', 'lost', 'tied', 'unjudged']),
  reason: z.string(),
});
export type Preference = z.infer<typeof preferenceSchema>;

/** Result of one method on one question: a line of `results.jsonl`. */
export const methodRecordSchema = z.object({
  evaluation: z.string(),
  method: z.string(),
  question: z.string(),
  /** Its line in the set, from 0. */
  index: z.int().nonnegative(),
  topic: z.string().nullable(),
  verdict: verdictSchema,
  extracted: z.string().nullable(),
  reason: z.string(),
  graderVersion: z.string().nullable(),
  answer: textSchema.nullable(),
  /** Workflow ids of the solves that it took: `temporal-conductor trace <id>` shows each. */
  runs: z.array(z.string()),
  spent: spentSchema,
  /** Calls that are not in it: lost in a crash or a time-out, at a cost that is unknown. */
  lost: z.int().nonnegative(),
  /** Further cost of judging it; absent if no model was asked. */
  judging: spentSchema.exactOptional(),
  preference: preferenceSchema.exactOptional(),
  /** The part of it that wrote plans. */
  planning: spentSchema,
  /** From the start of the first solve to the end of the last, waits in queues included. */
  latencyMs: z.int().nonnegative(),
  workers: z.record(z.string(), z.int()),
  plan,
  /** The checkpoint that wrote its plans; absent where none did, and in older records. */
  checkpoint: z.string().exactOptional(),
  /** Verdicts on the outputs of the steps, round by round, where a rule found the answer wrong; attempts are one round. */
  outputs: z.array(z.array(verdictSchema)).exactOptional(),
  /** Plans that were carried out, corrections included. */
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

/** Source of a learned router: answers of workers alone, in an earlier evaluation. */
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
  /** SHA-256 of what the Conductor, and a worker, is told beside the question. */
  prompts: z.object({
    conductor: z.string(),
    /** Hashes for the prompted Conductors of `conductors`, by name. Evaluations of earlier versions have none. */
    conductors: z.record(z.string(), z.string()).exactOptional(),
    worker: z.string(),
  }),
});
export type MadeWith = z.infer<typeof madeWithSchema>;

export const manifestSchema = z.object({
  schema: z.literal(1),
  id: z.string(),
  file: z.string(),
  set: z.string(),
  /** Lines of the set: each question as often as it is tried. */
  questions: z.int().positive(),
  /** Tries of each question by each method; absent: one. */
  repeats: z.int().positive().exactOptional(),
  /** The method whose comparison was named as the one that counts, before anything was tried. */
  primary: z.string().exactOptional(),
  methods: z.array(z.string()),
  workers: z.array(z.string()),
  seed: z.int(),
  startedAt: z.string(),
  run: runSchema,
  /** Further Conductors that methods ask for, by name. */
  conductors: z.record(z.string(), conductorSchema).exactOptional(),
  /** Workers outside the pool that methods ask. */
  baselines: z.array(workerSchema).readonly().exactOptional(),
  verifier: modelSchema.exactOptional(),
  compares: z.boolean().exactOptional(),
  /** Absent where the questions are those of a file alone. */
  log: logSchema.exactOptional(),
  learned: learnedSchema.exactOptional(),
  madeWith: madeWithSchema.exactOptional(),
});
export type Manifest = z.infer<typeof manifestSchema>;
