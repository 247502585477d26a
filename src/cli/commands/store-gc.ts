import { type Collected, collectGarbage } from '../../client/collect-garbage';
import { configuredKeys } from '../../encryption/keys';
import { openStore } from '../../store/open-store';
import type { Swept, Tally } from '../../store/sweep';
import { attachServer } from '../attach';
import { EXIT, type ExitCode } from '../exit-code';
import { openSession } from '../session';
import { loadSettings } from '../settings';
import { print } from '../terminal';

/** The options of `store gc` as the command line gives them. */
export interface StoreGcOptions {
  readonly config?: string;
  readonly olderThan: number;
  readonly dryRun?: boolean;
}

/** Removes from the store what is old and of no use, and says what. Needs the server, which knows what is of use. */
export async function storeGc({
  config: file,
  olderThan,
  dryRun = false,
}: StoreGcOptions): Promise<ExitCode> {
  const config = await loadSettings(file);
  const session = await openSession(await attachServer(config, { used: true }), config);
  try {
    const collected = await collectGarbage({
      client: session.temporal,
      store: openStore(config.store, process.cwd(), { keys: configuredKeys(config) }),
      olderThanMs: olderThan,
      dryRun,
    });
    await print(describe(collected, dryRun, session.server.address));
    return EXIT.answered;
  } finally {
    await session.close();
  }
}

function describe(collected: Collected, dryRun: boolean, address: string): string {
  const { runs } = collected;
  const removed = `${dryRun ? 'Would remove' : 'Removed'}: ${describePart(collected, 'removed')}.`;
  const kept = `Kept, as old: ${describePart(collected, 'live')}.`;
  return `${removed}\n${kept} The server at ${address} holds ${runs} ${runs === 1 ? 'run' : 'runs'}.`;
}

function describePart({ texts, answers }: Collected, part: keyof Swept): string {
  const parts = [...describeTally(texts[part], 'text'), ...describeTally(answers[part], 'answer')];
  return parts.length === 0 ? 'nothing' : parts.join(' and ');
}

function describeTally({ count, bytes }: Tally, what: string): string[] {
  return count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'} (${describeBytes(bytes)})`];
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

function describeBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  const amount = bytes / 1000 ** power;
  return `${power === 0 ? amount : amount.toPrecision(3)} ${UNITS[power] ?? ''}`;
}
