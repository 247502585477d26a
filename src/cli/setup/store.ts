import { collectGarbage } from '../../client';
import { openStore } from '../../store/open-store';
import type { Store, Swept } from '../../store/store';
import { counted } from '../../trace/describe';
import type { TrainableConfig } from '../../training/config';
import { EXIT, type ExitCode } from '../kit/ending';
import { withSession } from '../kit/session';
import { loadSettings, type WorkOptions } from '../kit/load-settings';
import { print } from '../kit/terminal';

/** `store migrate`: creates or migrates the tables of a store that does not do so by itself. Needs no server. */
export async function migrate(options: WorkOptions): Promise<ExitCode> {
  const config = await loadSettings(options);
  await print(await migrateStore(openStore(config.store, process.cwd())));
  return EXIT.answered;
}

async function migrateStore(store: Store): Promise<string> {
  const { url } = store;
  if (store.migrate === undefined) return `There is nothing to do: ${url} needs no migration.`;
  const { from, to } = await store.migrate();
  if (from === to) return `There is nothing to do: the schema of ${url} is of version ${to}.`;
  return from === null
    ? `Made the schema of ${url}: version ${to}.`
    : `Migrated the schema of ${url} from version ${from} to ${to}.`;
}

interface CollectOptions extends WorkOptions {
  /** Milliseconds. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
}

/** `store gc`: removes old, unused objects. Needs the server, which knows what is in use. */
export async function collect(options: CollectOptions): Promise<ExitCode> {
  const { olderThan, dryRun = false } = options;
  const loaded = await loadSettings(options);
  return withSession(loaded, options, { role: 'look', used: true }, async ({ temporal, store, server }) => {
    const how = { olderThanMs: olderThan, dryRun };
    const { texts, answers, runs } = await collectGarbage({ client: temporal, store, ...how });
    const weights = await collectWeights(loaded, how);
    const swept = { text: texts, answer: answers, ...(weights && { 'weight file': weights }) };
    const removed = `${dryRun ? 'Would remove' : 'Removed'}: ${describe(swept, 'removed')}.`;
    const kept = `Kept, as old: ${describe(swept, 'live')}.`;
    const looked = `Looked at ${counted(runs, 'run')} of namespace ${server.namespace} at ${server.address}, and at no others.`;
    await print(`${removed}\n${kept} ${looked}`);
    return EXIT.answered;
  });
}

async function collectWeights(
  { training }: TrainableConfig,
  how: { readonly olderThanMs: number; readonly dryRun: boolean },
): Promise<Swept | null> {
  if (training === undefined) return null;
  const { openFiles } = await import('../../training/client/index.js');
  const { sweepWeights } = await import('../../training/client/index.js');
  return sweepWeights(openFiles(training.artifacts), how);
}

function describe(swept: Readonly<Record<string, Swept>>, which: 'removed' | 'live'): string {
  const parts = Object.entries(swept)
    .map(([what, found]) => [what, found[which]] as const)
    .filter(([, { count }]) => count > 0)
    .map(([what, { count, bytes }]) => `${counted(count, what)} (${describeBytes(bytes)})`);
  return parts.length === 0 ? 'nothing' : parts.join(' and ');
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

function describeBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  const amount = bytes / 1000 ** power;
  return `${power === 0 ? amount : amount.toPrecision(3)} ${UNITS[power] ?? ''}`;
}
