import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { TrainingPlugin } from '../../../src/training';
import type { TrainableInput } from '../../../src/training/config/schema';
import type { BegunAnswer, KeptAnswer, LedgerRow } from '../../../src/store/ledger';
import { openStore } from '../../../src/store/open-store';
import type { Store, StoredEntry } from '../../../src/store/store';
import { letClockJump, troubleOf } from './troubles';

// A worker in a process of its own, made to be killed. To the line `memory` it answers what is left after a collection.

/** Settings of the program, as JSON. */
export interface WorkerSetting {
  readonly address: string;
  readonly bundle: string;
  readonly config: TrainableInput;
  readonly taskQueue: string;
  /** URL of the store. */
  readonly store: string;
  /** File that takes one line for each keeping, and for each row that is opened or closed. */
  readonly witness: string;
  /** Seed of the store's and the clock's troubles; absent: none. */
  readonly troubles?: number;
}

/** When a row of the ledger was opened or closed, by a clock that does not jump. */
export interface RowTime {
  readonly row: 'opened' | 'closed';
  readonly callId: string;
  readonly attempt: number;
  /** Time as the row has it. */
  readonly startedAt: string;
  /** Epoch milliseconds, taken right before the write. */
  readonly at: number;
}

/** This process's clock as it was set when the process started. */
const trueNow = Date.now;

/** When a worker had written what saves a call from being made again: its answer, or the id of one in the background. */
export interface Keeping {
  readonly callId: string;
  /** Whose it is: the row of the ledger that it is paid under. */
  readonly attempt: number;
  readonly what: 'answer' | 'background id';
  /** Epoch milliseconds, taken after the write. */
  readonly at: number;
}

/** Memory of a worker, in bytes, after a collection and with nothing to do. */
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
    // Temporal's native part would write to stdout, which belongs to the answers.
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

/** Ends the process with its starter, whose end closes stdin. */
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
 * A store around another that notes when something was kept that saves a call from being made again. The objects' own
 * times would not do: a later attempt that was under way as well writes the same one again.
 */
class WitnessStore implements Store {
  readonly url: string;
  readonly rates: Store['rates'];
  readonly append: Store['append'];

  /**
   * @param witness file that takes the lines
   * @param trouble what befalls each operation before it is done
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
