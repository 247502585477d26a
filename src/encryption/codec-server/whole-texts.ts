import type { Payload } from '@temporalio/common';
import { encode as toUtf8 } from '@temporalio/common/lib/encoding';
import type { TextRef } from '../../protocol/text';
import type { Store } from '../../store/store';
import { readText, TextNotFoundError } from '../../store/texts';
import { Refusal } from './refusal';

/** Far more than a person reads, and what a process bears to hold some times over. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * The same payload with every text that travels by reference whole, in the place of its reference. A payload without
 * any is left as it is, to the byte.
 *
 * @throws Refusal where a text is not in the store, or all of them are too much for one answer
 */
export async function withWholeTexts(payload: Payload, store: Store): Promise<Payload> {
  const { metadata, data } = payload;
  if (data == null || Buffer.from(metadata?.encoding ?? []).toString('utf8') !== 'json/plain') return payload;
  const value: unknown = JSON.parse(Buffer.from(data).toString('utf8'));
  const refs = [...refsIn(value)];
  if (refs.length === 0) return payload;
  const bytes = refs.reduce((sum, ref) => sum + ref.bytes, 0);
  if (bytes > MAX_BYTES) {
    throw new Refusal(
      413,
      `the texts of this payload are ${bytes} bytes, over ${MAX_BYTES}: read them with temporal-conductor trace`,
    );
  }
  const texts = new Map<string, string>();
  for (const ref of refs) texts.set(ref.ref, await load(ref, store));
  return { ...payload, data: toUtf8(JSON.stringify(value, (_, part) => wholeOf(part, texts))) };
}

function* refsIn(value: unknown): Generator<TextRef> {
  if (typeof value !== 'object' || value === null) return;
  if (isTextRef(value)) yield value;
  else for (const part of Object.values(value)) yield* refsIn(part);
}

function wholeOf(part: unknown, texts: ReadonlyMap<string, string>): unknown {
  return isTextRef(part) ? texts.get(part.ref) : part;
}

function isTextRef(value: unknown): value is TextRef {
  if (typeof value !== 'object' || value === null) return false;
  const { ref, bytes, preview }: { ref?: unknown; bytes?: unknown; preview?: unknown } = value;
  return (
    typeof ref === 'string' &&
    /^sha256-[0-9a-f]{64}$/.test(ref) &&
    typeof bytes === 'number' &&
    typeof preview === 'string'
  );
}

async function load(ref: TextRef, store: Store): Promise<string> {
  try {
    return await readText(store, ref);
  } catch (error) {
    if (!(error instanceof TextNotFoundError)) throw error;
    throw new Refusal(
      404,
      `${error.message}; with ?preserveStorageRefs=true, /decode leaves references as they are`,
    );
  }
}
