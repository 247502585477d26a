import { closeSync, type FSWatcher, openSync, readSync, watch } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { RequestRecord } from '../../src/testing';

const CHUNK_BYTES = 1024 * 1024;

type Line = RequestRecord & { readonly event: 'received' | 'finished' };

/** Reads the providers' log as it grows, whichever process writes it. */
export class LogFollower {
  private readonly file: number;
  private readonly watcher: FSWatcher;
  private readonly onRequest: () => void;
  private readonly decoder = new StringDecoder('utf8');
  /** By sequence number; the last line of a request has the most details. */
  private readonly records = new Map<number, RequestRecord>();
  private rest = '';

  constructor(path: string, onRequest: () => void) {
    this.onRequest = onRequest;
    this.file = openSync(path, 'a+');
    this.watcher = watch(path, () => {
      this.read();
    });
    this.read();
  }

  requests(): readonly RequestRecord[] {
    this.read();
    return [...this.records.values()];
  }

  close(): void {
    this.watcher.close();
    closeSync(this.file);
  }

  private read(): void {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let bytes = readSync(this.file, chunk); bytes > 0; bytes = readSync(this.file, chunk)) {
      const lines = (this.rest + this.decoder.write(chunk.subarray(0, bytes))).split('\n');
      this.rest = lines.pop() ?? '';
      for (const line of lines) this.take(JSON.parse(line) as Line);
    }
  }

  private take({ event, ...record }: Line): void {
    this.records.set(record.sequence, record);
    if (event === 'received') this.onRequest();
  }
}
