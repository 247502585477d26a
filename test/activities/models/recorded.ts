import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Usage } from '../../../src';
import { judgeReply, toProviderFailure } from '../../../src/activities/models';
import { aRequest, type Dialect, DIALECTS } from './ask';

const usageSchema = z.strictObject({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cachedInputTokens: z.int().default(0),
  reasoningTokens: z.int().default(0),
  cacheWriteTokens: z.int().optional(),
  hourCacheWriteTokens: z.int().optional(),
  serviceTier: z.string().optional(),
});

const recordSchema = z.strictObject({
  what: z.string(),
  /** Page that describes the shape. */
  source: z.url(),
  /** Bytes of the response: a whole body, or a stream of events. */
  body: z.string().optional(),
  stream: z.string().optional(),
  answer: z.string().optional(),
  cut: z.string().optional(),
  refused: z.string().optional(),
  failure: z.string().optional(),
  says: z.string().optional(),
  thoughts: z.string().optional(),
  usage: z.union([usageSchema, z.literal('unknown')]).optional(),
});

/** A reply as a vendor sends it, with what it means. */
export type Recorded = z.output<typeof recordSchema> & { readonly dialect: Dialect };

const FILES = ['chat-completions', 'responses', 'messages', 'generate-content'];

/** Recorded replies of the four APIs, in the order of `DIALECTS`. */
export const RECORDED: readonly (readonly Recorded[])[] = DIALECTS.map((dialect, index) => {
  const path = join(__dirname, 'recorded', `${FILES[index] ?? ''}.yaml`);
  const records = z.array(recordSchema).parse(parse(readFileSync(path, 'utf8')));
  return records.map((record) => ({ ...record, dialect }));
});

/** Response to send for a record. */
export function responseOf({ body, stream }: Recorded): { readonly type: string; readonly bytes: string } {
  if (stream === undefined) return { type: 'application/json', bytes: body ?? '' };
  return { type: 'text/event-stream; charset=utf-8', bytes: `${stream}\n` };
}

export interface Outcome {
  readonly kind: 'answer' | 'cut' | 'refused' | 'failure';
  /** The text, the reason of a refusal, or the type of a failure. */
  readonly value: string;
  readonly message: string;
  readonly thoughts: string;
  readonly usage: Usage | null | undefined;
  /** Text that was shown while it arrived. */
  readonly heard: string;
}

/** Asks for a reply as an activity does, and returns what comes of it. */
export async function outcomeOf({ complete, card }: Dialect, url: string): Promise<Outcome> {
  let heard = '';
  const request = aRequest(card(url), { onText: (text) => void (heard += text) });
  try {
    const reply = await complete(request);
    const ended = judgeReply(reply, request);
    const { text, finish, refusal, usage, thoughts = '' } = reply;
    const found = { message: '', thoughts, usage, heard };
    if (ended.kind === 'answered') return { kind: 'answer', value: text, ...found };
    const { type, message } = ended.failure;
    if (finish === 'length') return { kind: 'cut', value: text, ...found, message };
    if (finish === 'refusal') return { kind: 'refused', value: refusal ?? '', ...found, message };
    return { kind: 'failure', value: type, ...found, message };
  } catch (error) {
    const failure = toProviderFailure(error, request);
    if (failure === null) throw error;
    const { type: value, message } = failure;
    return { kind: 'failure', value, message, thoughts: '', usage: undefined, heard };
  }
}

const KINDS = ['answer', 'cut', 'refused', 'failure'] as const;

/** Outcome that a record names; without usage for a failure that brings none. */
export function expectedOf(record: Recorded): Omit<Outcome, 'message' | 'heard'> {
  const kind = KINDS.find((each) => record[each] !== undefined);
  if (kind === undefined) throw new Error(`"${record.what}" names no outcome.`);
  const { thoughts = '', usage } = record;
  return { kind, value: record[kind] ?? '', thoughts, usage: usage === 'unknown' ? null : usage };
}
