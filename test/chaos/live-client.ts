import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChild, type ChildProgram } from '../../research/support/programs';
import { type Heard, type ReaderSetting, readHeard } from './read-streams';

const PROGRAM = join(__dirname, 'read-streams.ts');

/** A client that reads the streams of runs; after a kill, it continues from the events that it recorded. */
export class LiveClient {
  /** Messages about clients that ended without being killed. */
  readonly broken: string[] = [];
  private readonly ids = new Set<string>();
  private readonly setting: ReaderSetting;
  private process: ChildProgram;
  private endedCount = 0;
  private onEnded: () => void = () => undefined;

  /** @param onText called for each piece of text that a client was told */
  constructor(
    setting: Omit<ReaderSetting, 'file'>,
    folder: string,
    private readonly onText: () => void,
  ) {
    this.setting = { ...setting, file: join(folder, 'heard.jsonl') };
    writeFileSync(this.setting.file, '');
    this.process = this.start();
  }

  follow(id: string): void {
    this.ids.add(id);
    this.process.tell(id);
  }

  async kill(): Promise<void> {
    await this.process.kill();
    this.process = this.start();
  }

  /** Resolves when every followed stream has ended. */
  async ended(): Promise<void> {
    while (this.endedCount < this.ids.size) await new Promise<void>((resolve) => (this.onEnded = resolve));
  }

  heard(): readonly Heard[] {
    return readHeard(this.setting.file);
  }

  async close(): Promise<void> {
    await this.process.kill();
  }

  private start(): ChildProgram {
    const child = runChild(PROGRAM, [JSON.stringify(this.setting)], process.env);
    void child.lost.then((end) => this.broken.push(`a client that nobody killed ${end}`));
    // An earlier process may have been killed after it recorded an event, before it reported it.
    this.endedCount = this.heard().filter(({ event }) => event.kind === 'ended').length;
    this.onEnded();
    for (const id of this.ids) child.tell(id);
    void this.listen(child);
    return child;
  }

  private async listen(child: ChildProgram): Promise<void> {
    try {
      for (;;) {
        const kind = await child.nextLine();
        if (child !== this.process) return;
        if (kind === 'text') this.onText();
        if (kind !== 'ended') continue;
        this.endedCount += 1;
        this.onEnded();
      }
    } catch {
      // It was killed, or `broken` has a message.
    }
  }
}
