import { z } from 'zod';
import { jsonBytes } from '../plan/plan';
import { answerSchemaSchema } from './answer-schema';

/** Most functions of a caller: vendors take no more tools in one request. */
export const MAX_CALLER_TOOLS = 128;
const MAX_ALL_BYTES = 512 * 1024;

/** A text that a function takes in place of arguments: any, or one that fits a grammar, as OpenAI's custom tools do. */
export const textFormatSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({
    type: z.literal('grammar'),
    syntax: z.enum(['lark', 'regex']),
    definition: z.string(),
  }),
]);
export type TextFormat = z.infer<typeof textFormatSchema>;

/** A function of the caller's, which models may ask for: the run waits until the caller gives its result. */
export const callerToolSchema = z.strictObject({
  name: z.string().min(1).max(128),
  description: z.string().optional(),
  /** JSON Schema of its arguments, an object. */
  parameters: answerSchemaSchema,
  /** Set if it takes a text, which models that have no such tools give as the argument `input`. */
  format: textFormatSchema.exactOptional(),
});
export type CallerTool = z.infer<typeof callerToolSchema>;

export const callerToolsSchema = z
  .array(callerToolSchema)
  .min(1)
  .max(MAX_CALLER_TOOLS, { error: `expected at most ${MAX_CALLER_TOOLS} functions` })
  .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, {
    error: 'expected functions with different names',
  })
  .refine((tools) => jsonBytes(tools) <= MAX_ALL_BYTES, {
    error: `expected functions of at most ${MAX_ALL_BYTES} bytes together`,
  });
