import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { TrainingPlugin } from '../../src/training';
import type { TrainableInput } from '../../src/training/config/schema';
import type { BegunAnswer, KeptAnswer, LedgerRow } from '../../src/store/ledger';
import { openStore } from '../../src/store/open-store';
import type { Store, StoredEntry } from '../../src/store/store';
import { letClockJump, troubleOf } from './troubles';

// Runs a worker in its own process, to be killed. Answers the line `memory` with its memory after a garbage collection.

/** Settings of the program, as JSON. */
export interface WorkerSetting {
  readonly address: string;
  readonly bundle: string;
  readonly config: TrainableInput;
  readonly taskQueue: string;
  /** URL of the store. */
  readonly store: string;
  /** File that receives a line for each `Keeping` and each `RowTime`. */
  readonly witness: string;
  /** Seed of the faults of store and clock; absent: none. */
  readonly troubles?: number;
}

/** Time at which a ledger row was opened or closed, by a clock that does not jump. */
export interface RowTime {
  readonly row: 'opened' | 'closed';
  readonly callId: string;
  readonly attempt: number;
  /** Start time as the row has it. */
  readonly startedAt: string;
  /** Epoch milliseconds, taken right before the write. */
  readonly at: number;
}

/** Returns epoch milliseconds as the providers' log does: by a clock that never jumps, even if the machine's is set. */
const trueNow = (): number => performance.timeOrigin + performance.now();

/** Time at which a worker had stored what prevents a repeated call: an answer, or the id of a background call. */
export interface Keeping {
  readonly callId: string;
  /** Attempt whose ledger row pays for it. */
  readonly attempt: number;
  readonly what: 'answer' | 'background id';
  /** Epoch milliseconds, taken after the write. */
  readonly at: number;
}

/** Memory of an idle worker after a garbage collection, in bytes. */
export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}

async function main(): Promise<void> {
  const [json = ''] = process.argv.slice(2);
  const { address, bundle, config, taskQueue, store, witness, troubles } = JSON.parse(json) as WorkerSetting;
  if (troubles !== undefined) letClockJump(troubles);
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    // Temporal's native part would log to stdout, which is reserved for replies.
    telemetryOptions: { logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } } },
  });
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    taskQueue,
    workflowBundle: { codePath: bundle },
    plugins: [
      new TrainingPlugin({
        config,
        store: new WitnessStore(
          openStore(store, process.cwd()),
          witness,
          troubles === undefined ? undefined : troubleOf(troubles),
        ),
      }),
    ],
    stickyQueueScheduleToStartTimeout: '2s',
  });
  console.log('"ready"');
  void tellMemory();
  await worker.run();
  process.exit();
}

/** Answers lines, and ends this process when stdin closes, which happens when its starter ends. */
async function tellMemory(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for await (const line of createInterface({ input: process.stdin })) {
    if (line !== 'memory') continue;
    collect();
    const { rss, heapUsed } = process.memoryUsage();
    console.log(JSON.stringify({ rss, heapUsed } satisfies Memory));
  }
  process.exit();
}

/** `answers/ab/<call id>.json`, `background/ab/<call id>.json`. */
const KEEPING = /^(answers|background)\/.+\/([0-9a-f]{64})\.json$/;

/**
 * Wraps a store, and records when it stored what prevents a repeated call. The entries' own times would not do: a
 * later attempt that ran at the same time writes the same entry again.
 */
class WitnessStore implements Store {
  readonly url: string;
  readonly rates: Store['rates'];
  readonly append: Store['append'];

  /**
   * @param witness file that receives the lines
   * @param trouble fault injected before each operation
   */
  constructor(
    private readonly inner: Store,
    private readonly witness: string,
    private readonly trouble: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.url = inner.url;
    const { rates } = inner;
    this.rates = rates && {
      read: (name) => this.trouble().then(() => rates.read(name)),
      swap: (name, text, version) => this.trouble().then(() => rates.swap(name, text, version)),
    };
    const append = inner.append?.bind(inner);
    this.append = append && ((entries) => this.trouble().then(() => append(entries)));
  }

  async read(key: string): Promise<Buffer | null> {
    await this.trouble();
    return this.inner.read(key);
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    await this.trouble();
    this.noteRow(key, bytes);
    await this.inner.write(key, bytes);
    this.note(key, bytes);
  }

  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    await this.trouble();
    this.noteRow(key, bytes);
    const created = await this.inner.create(key, bytes);
    if (created) this.note(key, bytes);
    return created;
  }

  replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean> {
    return this.inner.replace(key, bytes, was);
  }

  stat(key: string): Promise<StoredEntry | null> {
    return this.inner.stat(key);
  }

  list(prefix: string): Promise<string[]> {
    return this.inner.list(prefix);
  }

  entries(prefix: string): AsyncIterable<StoredEntry> {
    return this.inner.entries(prefix);
  }

  removeOlder(key: string, than: Date): Promise<number> {
    return this.inner.removeOlder(key, than);
  }

  private noteRow(key: string, bytes: Uint8Array): void {
    if (!key.startsWith('ledger/')) return;
    const { callId, attempt, startedAt, endedAt } = JSON.parse(
      Buffer.from(bytes).toString('utf8'),
    ) as LedgerRow;
    const row = endedAt === null ? 'opened' : 'closed';
    this.tell({ row, callId, attempt, startedAt, at: trueNow() });
  }

  private tell(line: Keeping | RowTime): void {
    appendFileSync(this.witness, `${JSON.stringify(line)}\n`);
  }

  private note(key: string, bytes: Uint8Array): void {
    const [, folder, callId] = KEEPING.exec(key) ?? [];
    if (callId === undefined) return;
    const content = JSON.parse(Buffer.from(bytes).toString('utf8')) as KeptAnswer | BegunAnswer;
    const keeping: Keeping = {
      callId,
      attempt: 'row' in content ? content.row.attempt : content.attempt,
      what: folder === 'answers' ? 'answer' : 'background id',
      at: trueNow(),
    };
    this.tell(keeping);
  }
}

void main();
