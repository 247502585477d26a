import { type Collected, collectGarbage } from '../../client/collect-garbage';
import type { Tally } from '../../store/store';
import { textsOfRecords } from '../../training/client/record-texts';
import { type AddCommands, CONFIG, readDays } from '../arguments';
import { EXIT, type ExitCode } from '../exit-code';
import { withSession } from '../session';
import { loadSettings } from '../settings';
import { print } from '../terminal';

interface CollectOptions {
  readonly config?: string;
  /** Milliseconds. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
}

/** `store gc`: removes from the store what is old and of no use. */
export const addStore: AddCommands = (program, settle) => {
  program
    .command('store')
    .description('look after the store')
    .command('gc')
    .description('remove texts and answers that are old and that no run on the server refers to')
    .requiredOption('--older-than <days>', 'what is younger stays, e.g. 30d', readDays)
    .option('--dry-run', 'say what would be removed, and remove nothing')
    .option(...CONFIG)
    .action(async (options: CollectOptions) => {
      settle(await collect(options));
    });
};

/** Needs the server, which knows what is of use. */
async function collect({ config: file, olderThan, dryRun = false }: CollectOptions): Promise<ExitCode> {
  const loaded = await loadSettings(file);
  return withSession(loaded, { file, role: 'look', used: true }, async ({ temporal, store, server }) => {
    const collected = await collectGarbage({
      client: temporal,
      store,
      olderThanMs: olderThan,
      dryRun,
      refsBeside: textsOfRecords,
    });
    await print(describe(collected, dryRun, server.address));
    return EXIT.answered;
  });
}

function describe(collected: Collected, dryRun: boolean, address: string): string {
  const { texts, answers, unfinished, runs } = collected;
  const gone = [
    ...describeTally(texts.removed, 'text'),
    ...describeTally(answers.removed, 'answer'),
    ...describeTally(unfinished, 'unfinished file'),
  ];
  const old = [...describeTally(texts.live, 'text'), ...describeTally(answers.live, 'answer')];
  const removed = `${dryRun ? 'Would remove' : 'Removed'}: ${join(gone)}.`;
  const kept = `Kept, as old: ${join(old)}.`;
  return `${removed}\n${kept} The server at ${address} holds ${runs} ${runs === 1 ? 'run' : 'runs'}.`;
}

function join(parts: readonly string[]): string {
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
