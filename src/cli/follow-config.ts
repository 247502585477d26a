import { closeSync, openSync, unwatchFile, watchFile } from 'node:fs';
import { configPath } from '../config/load';
import { changesBetween } from '../config/digest';
import { reasonOf } from '../reason-of';
import type { TrainableConfig } from '../training/config/schema';
import { loadServable, type WorkOptions } from './settings';
import { say } from './terminal';

/** Runs under way have their queue, their texts and their keys there: another worker process could not go on with them. */
const NEED_A_RESTART = /^(temporal\.(taskQueue|namespace)|store|encryption)$/;

/** Looks at the file rather than listens: editors replace files, and shared folders tell of no change. */
const LOOK_MS = 500;

/**
 * Reads the configuration of a long-lived command again whenever its file changes or `kill -HUP` asks for it, and says
 * so in one line. A version that cannot be used, or not without a restart, is passed over.
 */
export class ConfigFollower {
  /** The file, as messages name it. */
  private readonly name: string;
  private readonly path: string;
  private reading: Promise<void> = Promise.resolve();

  /**
   * @param current the version that is being worked with
   * @param take is handed each further one
   */
  constructor(
    private current: TrainableConfig,
    private readonly options: WorkOptions,
    private readonly take: (config: TrainableConfig) => void,
  ) {
    this.name = options.config ?? process.env.CONDUCTOR_CONFIG ?? 'conductor.yaml';
    this.path = configPath({ env: process.env, cwd: process.cwd(), path: options.config });
    watchFile(this.path, { interval: LOOK_MS }, this.look);
    process.on('SIGHUP', this.hangUp);
  }

  /** Reads it now; one reading at a time. */
  private readonly look = (): void => {
    this.reading = this.reading.then(() => this.read(false));
  };

  /** A terminal that is closed sends the same signal: it ends the command, as any other. */
  private readonly hangUp = (): void => {
    const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
    if (hasTerminal && isTerminalGone()) process.kill(process.pid, 'SIGTERM');
    else this.reading = this.reading.then(() => this.read(true));
  };

  /** What was taken cannot be worked with after all. */
  takeBack(before: TrainableConfig): void {
    this.current = before;
  }

  stop(): void {
    unwatchFile(this.path, this.look);
    process.off('SIGHUP', this.hangUp);
  }

  private async read(isAsked: boolean): Promise<void> {
    try {
      const next = await loadServable(this.options);
      const changes = changesBetween(this.current, next);
      const hindrances = changes.filter((name) => NEED_A_RESTART.test(name));
      if (changes.length === 0 && isAsked) say(`${this.name} was read again, and says the same.`);
      if (changes.length === 0) return;
      if (hindrances.length > 0) {
        say(
          `${this.name} has changed (${changes.join(', ')}). Changing the ${hindrances.join(' and ')} needs a restart; ` +
            'the previous configuration stays active.',
        );
        return;
      }
      say(`${this.name} has changed: ${changes.join(', ')}.`);
      this.current = next;
      this.take(next);
    } catch (error) {
      say(`${this.name} has changed and cannot be used, so the version before it holds: ${reasonOf(error)}`);
    }
  }
}

function isTerminalGone(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return false;
  } catch {
    return true;
  }
}
