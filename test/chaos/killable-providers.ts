import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChild, type ChildProgram } from '../../research/support/programs';
import type { RequestRecord } from '../../src/testing';
import { LogFollower } from '../../research/support/log-follower';
import { simulationOf } from './scenario';

const PROGRAM = join(__dirname, '..', '..', 'examples', 'providers', 'serve.ts');

/** The simulated providers as a program, killed and restarted on the same port; their log outlives them. */
export class KillableProviders {
  private constructor(
    readonly url: string,
    private process: ChildProgram,
    private readonly log: LogFollower,
    private readonly args: readonly string[],
  ) {}

  /** `onRequest` is called for each request, also after a restart. */
  static async start(
    { folder, seed, live }: { readonly folder: string; readonly seed: number; readonly live: boolean },
    onRequest: () => void,
  ): Promise<KillableProviders> {
    const [script, log] = [join(folder, 'simulation.json'), join(folder, 'providers.jsonl')];
    writeFileSync(script, JSON.stringify(simulationOf(seed, live)));
    const args = ['--script', script, '--log', log];
    const process = runChild(PROGRAM, [...args, '--port', '0'], {});
    const url = await process.nextLine();
    return new KillableProviders(url, process, new LogFollower(log, onRequest), args);
  }

  async kill(): Promise<void> {
    await this.process.kill();
    this.process = runChild(PROGRAM, [...this.args, '--port', new URL(this.url).port], {});
    await this.process.nextLine();
  }

  /** Returns every request so far, including those that are unfinished. */
  requests(): readonly RequestRecord[] {
    return this.log.requests();
  }

  async close(): Promise<void> {
    this.log.close();
    await this.process.kill();
  }
}
