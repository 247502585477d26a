import { z } from 'zod';

/** What a model wrote: its answer, the thoughts that it shows apart from it, and why it declines. */
export interface Content {
  readonly text: string;
  readonly thoughts: string;
  readonly refusal: string;
}

export const NO_CONTENT: Content = { text: '', thoughts: '', refusal: '' };

const TEXT_PART = /^(?:output_)?text(?:_delta)?$/;

const typedPartSchema = z
  .looseObject({
    type: z.string().nullish(),
    text: z.string().nullish(),
    thought: z.boolean().nullish(),
    refusal: z.string().nullish(),
  })
  .refine((part) => !TEXT_PART.test(part.type ?? '') || part.text != null, {
    error: 'a part of type text without its text',
    path: ['text'],
  });

type TypedPart = z.output<typeof typedPartSchema>;

/**
 * List of parts. Those of thoughts are recognised by their type: `thinking` (Anthropic, Mistral:
 * docs.mistral.ai/capabilities/reasoning), `reasoning` (Databricks), or Gemini's mark `thought`. Any other part that
 * has a text belongs to the answer, so that none is lost; images and calls of tools have none.
 */
export const partsSchema = z
  .array(z.union([z.string(), typedPartSchema]))
  .transform((parts) => joined(parts.map(contentIn)));

/** Content as most servers send it: a text, or a list of parts. */
export const replyContentSchema = z
  .union([z.string().transform(contentIn), partsSchema])
  .nullish()
  .transform((content) => content ?? NO_CONTENT);

/** Content of one part, or of one event that adds to a part. */
export const partContentSchema = typedPartSchema
  .nullish()
  .transform((part) => (part == null ? NO_CONTENT : contentIn(part)));

/** Thoughts in any form. What cannot be read is left out, since the answer does not depend on it. */
export const thoughtsSchema = z
  .unknown()
  .optional()
  .transform((value) => thoughtsIn(value));

export function joined(contents: readonly Content[]): Content {
  const all = (key: keyof Content): string => contents.map((content) => content[key]).join('');
  return { text: all('text'), thoughts: all('thoughts'), refusal: all('refusal') };
}

function contentIn(part: string | TypedPart): Content {
  if (typeof part === 'string') return { ...NO_CONTENT, text: part };
  const isThought = part.thought === true || /think|thought|reason/i.test(part.type ?? '');
  if (isThought) return { ...NO_CONTENT, thoughts: thoughtsIn(part) };
  return { ...NO_CONTENT, text: part.text ?? '', refusal: part.refusal ?? '' };
}

/** Fields that hold a text of thoughts, or a list of its parts; the first that has one counts. */
const THOUGHT_FIELDS = ['text', 'thinking', 'content', 'summary'] as const;

/** Lists within lists that a vendor's thoughts have at most. */
const DEEPEST = 8;

/** Returns the text of thoughts in any form: a text, a part, or a list of parts. */
export function thoughtsIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  const below = depth + 1;
  if (typeof value !== 'object' || value === null || below > DEEPEST) return '';
  if (Array.isArray(value)) return value.map((part) => thoughtsIn(part, below)).join('');
  const fields = value as Readonly<Partial<Record<(typeof THOUGHT_FIELDS)[number], unknown>>>;
  return THOUGHT_FIELDS.map((field) => thoughtsIn(fields[field], below)).find((text) => text !== '') ?? '';
}
