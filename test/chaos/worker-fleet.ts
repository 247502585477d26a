import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runChild, type ChildProgram } from '../../research/support/programs';
import type { Memory, WorkerSetting } from '../../research/support/worker';
import { workerEnv } from './scenario';

/** Longer than a heartbeat time-out of 5 s. */
export const FROZEN_MS = 8_000;

const PROGRAM = join(__dirname, '..', '..', 'research', 'support', 'worker.ts');

/** Worker processes: one that is never killed, whose memory is watched, and some that are replaced as they die. */
export class WorkerFleet {
  /** Messages about workers that ended without being killed. */
  readonly broken: string[] = [];
  private killed = 0;

  private constructor(
    private readonly setting: WorkerSetting,
    private readonly survivor: ChildProgram,
    private readonly mortals: ChildProgram[],
  ) {
    for (const worker of [survivor, ...mortals]) this.watch(worker);
  }

  static async start(setting: WorkerSetting, mortals: number): Promise<WorkerFleet> {
    const [survivor, ...others] = await Promise.all(
      Array.from({ length: 1 + mortals }, (_, place) => startWorker(setting, place)),
    );
    if (survivor === undefined) throw new Error('A fleet has one worker at least.');
    return new WorkerFleet(setting, survivor, others);
  }

  /** Kills the next worker in turn, and starts a new one in its place. */
  async kill(): Promise<void> {
    const place = this.killed % this.mortals.length;
    this.killed += 1;
    const victim = this.mortals[place];
    await victim?.kill();
    const next = await startWorker(this.setting, this.mortals.length + this.killed);
    this.watch(next);
    this.mortals[place] = next;
  }

  /** Freezes a worker for longer than a heartbeat time-out, so that others retry its calls, then lets it continue. */
  async freeze(): Promise<void> {
    const victim = this.mortals[this.killed % this.mortals.length];
    if (victim === undefined) return;
    victim.signal('SIGSTOP');
    await delay(FROZEN_MS);
    victim.signal('SIGCONT');
  }

  async memory(): Promise<Memory> {
    this.survivor.tell('memory');
    return (await this.survivor.nextMessage()) as Memory;
  }

  /** Asks all workers to stop; they complete the rows of calls under way. */
  async stop(): Promise<void> {
    await Promise.all([this.survivor, ...this.mortals].map((worker) => worker.stop()));
  }

  async close(): Promise<void> {
    await Promise.all([this.survivor, ...this.mortals].map((worker) => worker.kill()));
  }

  private watch(worker: ChildProgram): void {
    void worker.lost.then((end) => this.broken.push(`a worker that nobody killed ${end}`));
  }
}

/** @param number index of the worker, which seeds troubles of its own */
async function startWorker(setting: WorkerSetting, number: number): Promise<ChildProgram> {
  const troubles = setting.troubles === undefined ? undefined : 1000 * setting.troubles + number;
  const worker = runChild(PROGRAM, [JSON.stringify({ ...setting, troubles })], workerEnv());
  await worker.nextMessage();
  return worker;
}
