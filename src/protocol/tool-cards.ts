import { z } from 'zod';
import { MAX_COST_USD, MAX_WALL_CLOCK_MS } from './messages';
import { textSchema } from './solve';

// Tools as a run knows them. Workflows import only the types: their sandbox must not load zod.

const milliseconds = z.int().min(1).max(MAX_WALL_CLOCK_MS);
const count = z.int().min(1);

/** USD per call, however often Temporal repeats it. */
export const callPriceSchema = z.strictObject({ perCall: z.number().min(0).max(MAX_COST_USD) });
export type CallPrice = z.infer<typeof callPriceSchema>;

/** Absent: it costs nothing that this program knows of. */
const price = callPriceSchema.exactOptional();

const toolCardSchema = z.discriminatedUnion('kind', [
  /** Server of the Model Context Protocol; only the worker process that calls it knows where it is. */
  z.object({
    kind: z.literal('mcp'),
    name: z.string(),
    /** Its tools that this run may call. */
    allow: z.array(z.string()).readonly(),
    repeatable: z.array(z.string()).readonly(),
    /** Those of which a person decides on each call. */
    approve: z.array(z.string()).readonly(),
    timeoutMs: milliseconds,
    price,
  }),
  /** A Temporal activity or workflow of the user's: takes a `ToolRequest` with its arguments, returns JSON or a text. */
  z.object({
    kind: z.enum(['activity', 'workflow']),
    name: z.string(),
    type: z.string(),
    /** @default the run's own */
    taskQueue: z.string().optional(),
    description: z.string(),
    input: z.record(z.string(), z.unknown()).readonly(),
    repeatable: z.boolean(),
    approve: z.boolean(),
    timeoutMs: milliseconds,
    price,
  }),
  /** The caller's own functions: whoever started the run carries them out, and the run waits for their results. */
  z.object({
    kind: z.literal('caller'),
    name: z.string(),
    description: z.string(),
    /** JSON of a list of `CallerTool`. */
    list: textSchema,
    /** Only the step that writes the answer may ask for them. */
    lastStep: z.literal(true).optional(),
    /** The first turn of that step must ask for one. */
    mustCall: z.literal(true).optional(),
    timeoutMs: milliseconds,
  }),
]);
export type ToolCard = z.infer<typeof toolCardSchema>;

export const toolsetSchema = z.object({
  cards: z.array(toolCardSchema).readonly(),
  /** Turns of one step in which a model may call tools; one more, without them, ends it. */
  turns: count,
  /** Calls of the run. */
  calls: z.int().min(0),
  /** Longest result that a model is shown; a longer one is cut. */
  resultBytes: count,
});
export type Toolset = z.infer<typeof toolsetSchema>;
