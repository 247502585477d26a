import { z } from 'zod';

const contentSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  mimeType: z.string().optional(),
  data: z.string().optional(),
  uri: z.string().optional(),
  resource: z
    .looseObject({ uri: z.string(), text: z.string().optional(), mimeType: z.string().optional() })
    .optional(),
});

/** Result of a call, as far as it is read: the rest is the server's own business. */
export const toolResultSchema = z.looseObject({
  content: z.array(contentSchema.catch({ type: 'unreadable' })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

/** Returns what a model is told of a tool's result. What is no text is named, and left out. */
export function textOfResult({
  content,
  structuredContent,
  isError = false,
}: z.output<typeof toolResultSchema>): {
  readonly text: string;
  readonly isError: boolean;
} {
  const texts = content.map(textOfContent).filter((text) => text !== '');
  const structured = structuredContent === undefined ? '' : jsonOf(structuredContent);
  const hasText = content.some(({ type }) => type === 'text');
  const text = (hasText || structured === '' ? texts : [...texts, structured]).join('\n');
  return { text: text === '' ? '(the result is empty)' : text, isError };
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Writing it calls itself once a level, reading it does not.
    return '(structured content that is nested too deep to be shown)';
  }
}

function textOfContent(content: z.output<typeof contentSchema>): string {
  const { type, text = '', uri = 'a resource', resource } = content;
  if (type === 'text') return text;
  if (resource?.text !== undefined) return `${resource.uri}:\n${resource.text}`;
  if (type === 'resource_link') return `(a link to ${uri}, which was not followed)`;
  return `(${nameOf(content)}, which cannot be shown)`;
}

function nameOf({ type, mimeType, data, resource }: z.output<typeof contentSchema>): string {
  const kind = mimeType ?? resource?.mimeType ?? type;
  return data === undefined ? kind : `${kind} of ${Buffer.byteLength(data, 'base64')} bytes`;
}

/** Cuts a text to so many bytes of UTF-8, between two characters, and says so. */
export function cutTo(text: string, most: number): string {
  const bytes = Buffer.from(text, 'utf8');
  // Half of a surrogate pair, which could not be stored, has become a replacement.
  if (bytes.length <= most) return bytes.toString('utf8');
  const note = `\n[cut: the result has ${bytes.length} bytes, and at most ${most} are shown]`;
  const room = Math.max(0, most - Buffer.byteLength(note));
  // A character that was cut in two decodes to a replacement.
  return `${new TextDecoder().decode(bytes.subarray(0, room), { stream: true })}${note}`;
}
