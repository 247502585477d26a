import type { ServerResponse } from 'node:http';
import { Refusal } from '../refusal';
import type { Key } from './keys';

/** Most streams of a key that may be open in one gateway process, and most characters that it keeps for them. */
const MOST = { streams: 500, characters: 64 * 1024 * 1024 };
const WAIT_SECONDS = 5;

/** What a stream reads; all streams with the same source share what is kept of it. */
export interface Source {
  readonly name: string;
  /** Returns the number of characters that are kept for its streams. */
  readonly length: () => number;
}

interface OpenStream {
  source: Source | null;
}

/** Limits what the open streams of each key hold in this process. */
export class OpenStreams {
  private readonly byKey = new Map<string, Set<OpenStream>>();

  constructor(private readonly most = MOST) {}

  /**
   * Counts a stream until its response ends, however it ends. Returns a function that tells what the stream reads.
   * @throws Refusal above the limits
   */
  open(key: Pick<Key, 'id' | 'name'>, response: Pick<ServerResponse, 'once'>): (source: Source) => void {
    const open = this.byKey.get(key.id) ?? new Set();
    this.check(key, open);
    const stream: OpenStream = { source: null };
    this.byKey.set(key.id, open.add(stream));
    response.once('close', () => {
      open.delete(stream);
      if (open.size === 0) this.byKey.delete(key.id);
    });
    return (source) => {
      stream.source = source;
    };
  }

  private check({ name }: Pick<Key, 'name'>, open: ReadonlySet<OpenStream>): void {
    const { streams, characters } = this.most;
    const remedy = 'read them, or close some, and try again';
    if (open.size >= streams) {
      throw tooMuch(`key ${name} has ${open.size} streams open at this gateway, its most: ${remedy}`);
    }
    const held = lengthOf(open);
    if (held < characters) return;
    const most = `at most ${characters} are kept for a key`;
    throw tooMuch(`the open streams of key ${name} hold ${held} characters of text, and ${most}: ${remedy}`);
  }
}

function lengthOf(streams: Iterable<OpenStream>): number {
  const sources = new Map<string, Source>();
  for (const { source } of streams) if (source !== null) sources.set(source.name, source);
  return [...sources.values()].reduce((sum, { length }) => sum + length(), 0);
}

function tooMuch(message: string): Refusal {
  return new Refusal(429, message, { reason: 'too_many_streams', retryAfterSeconds: WAIT_SECONDS });
}
