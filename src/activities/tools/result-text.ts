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

const resultSchema = z.looseObject({
  content: z.array(contentSchema.catch({ type: 'unreadable' })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

/** Returns what a model is told of a tool's result. What is no text is named, and left out. */
export function textOfResult(result: unknown): { readonly text: string; readonly isError: boolean } {
  const { content, structuredContent, isError = false } = resultSchema.parse(result);
  const texts = content.map(textOfContent).filter((text) => text !== '');
  const structured = structuredContent === undefined ? '' : JSON.stringify(structuredContent);
  const hasText = content.some(({ type }) => type === 'text');
  const text = (hasText || structured === '' ? texts : [...texts, structured]).join('\n');
  return { text: text === '' ? '(the result is empty)' : text, isError };
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
  if (bytes.length <= most) return text;
  const note = `\n[cut: the result has ${bytes.length} bytes, and at most ${most} are shown]`;
  const room = Math.max(0, most - Buffer.byteLength(note));
  // A character that was cut in two decodes to a replacement.
  return `${new TextDecoder().decode(bytes.subarray(0, room), { stream: true })}${note}`;
}
