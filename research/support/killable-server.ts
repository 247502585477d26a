import type { TemporalServer } from '../../src/local/configured-server';
import { embeddedServer, stopServer } from '../../src/local/embedded-server';

/** A folder's embedded Temporal server with its own SQLite file; a killed one restarts at the same address. */
export class KillableServer {
  readonly address: string;
  private readonly folder: string;
  /** Each start registers this process once more as a user of the folder. */
  private readonly entered: TemporalServer[];

  private constructor(folder: string, server: TemporalServer) {
    this.folder = folder;
    this.entered = [server];
    this.address = server.address;
  }

  static async start(folder: string): Promise<KillableServer> {
    return new KillableServer(folder, await attach(folder));
  }

  async kill(): Promise<void> {
    await stopServer(this.folder);
    const again = await attach(this.folder);
    this.entered.push(again);
    if (again.address !== this.address) {
      throw new Error(
        `The server came back at ${again.address}, and was at ${this.address}: its port is taken.`,
      );
    }
  }

  async close(): Promise<void> {
    for (const server of this.entered) await server.stop();
  }
}

function attach(folder: string): Promise<TemporalServer> {
  return embeddedServer({ folder, say: () => undefined });
}
