import { z } from 'zod';
import { resultText } from '../../protocol/tool-result';

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
  const structured = structuredContent === undefined ? '' : resultText(structuredContent, Infinity);
  const hasText = content.some(({ type }) => type === 'text');
  const text = (hasText || structured === '' ? texts : [...texts, structured]).join('\n');
  return { text, isError };
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
