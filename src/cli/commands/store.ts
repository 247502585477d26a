import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { collectGarbage } from '../../client/collect-garbage';
import {
  DEFAULT_STORE,
  readStoreUrl,
  STORE_URL_FORMS,
  type StorePlace,
  withoutPassword,
} from '../../config/store-url';
import { configuredKeys } from '../../encryption/keys';
import { liveUsers } from '../../local/lease';
import { openStore } from '../../store/open-store';
import type { Tally } from '../../store/store';
import { takeOver } from '../../store/take-over';
import { counted } from '../../trace/describe';
import { textsOfRecords } from '../../training/client/record-texts';
import { sweepWeights } from '../../training/activities/weights';
import { EXIT, type ExitCode, UsageError } from '../exit-code';
import { withSession } from '../session';
import { FOLDER, loadSettings } from '../settings';
import { print, say } from '../terminal';

interface CollectOptions {
  readonly config?: string;
  /** Milliseconds. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
}

/** `store gc`: removes what is old and of no use. It needs the server, which knows what is of use. */
export async function collect({
  config: file,
  olderThan,
  dryRun = false,
}: CollectOptions): Promise<ExitCode> {
  const loaded = await loadSettings(file);
  return withSession(loaded, { file, role: 'look', used: true }, async ({ temporal, store, server }) => {
    const { texts, answers, unfinished, runs } = await collectGarbage({
      client: temporal,
      store,
      olderThanMs: olderThan,
      dryRun,
      refsBeside: textsOfRecords,
    });
    const weights = await sweepWeights(store, { olderThanMs: olderThan, dryRun });
    const gone = {
      text: texts.removed,
      answer: answers.removed,
      'weight piece': weights.removed,
      'unfinished file': unfinished,
    };
    const removed = `${dryRun ? 'Would remove' : 'Removed'}: ${describe(gone)}.`;
    const old = { text: texts.live, answer: answers.live, 'weight piece': weights.live };
    const kept = `Kept, as old: ${describe(old)}.`;
    await print(`${removed}\n${kept} The server at ${server.address} holds ${counted(runs, 'run')}.`);
    return EXIT.answered;
  });
}

/** `store import`: takes over what lies in another store, into the one that is configured. Needs no server. */
export async function importStore(from: string, { config: file }: { config?: string }): Promise<ExitCode> {
  const config = await loadSettings(file);
  const place = placeOf(from);
  const name = withoutPassword(from);
  // A folder of an earlier version is its own store as long as there is no database.
  const to = sameStore(from, config.store) ? DEFAULT_STORE : config.store;
  if (sameStore(from, to)) throw new UsageError(`${name} is the configured store itself: name another one`);
  if ('path' in place && !existsSync(place.path)) throw new UsageError(`${name} is not there`);
  const [user] = await liveUsers(resolve(FOLDER));
  if (user !== undefined) {
    throw new UsageError(
      `a command of this folder is running (process ${user.pid}), which may write to ${name}: end it first`,
    );
  }
  const { taken, there } = await takeOver(from, to, configuredKeys(config), (count) => {
    if (count % OBJECTS_IN_SILENCE === 0) say(`${count.toLocaleString('en-US')} objects so far …`);
  });
  const before = there.count === 0 ? '' : ` ${counted(there.count, 'object')} had been taken over before.`;
  await print(`Took over from ${name} into ${withoutPassword(to)}: ${describe({ object: taken })}.${before}`);
  if (sameStore((await loadSettings(file)).store, from)) {
    say(`Now name it in ${file ?? 'conductor.yaml'}: store: ${to}`);
  }
  say(`Nothing was removed from ${name}.`);
  return EXIT.answered;
}

const OBJECTS_IN_SILENCE = 10_000;

function placeOf(url: string): StorePlace {
  const place = readStoreUrl(url);
  if (place === null)
    throw new UsageError(`${JSON.stringify(withoutPassword(url))} is no store: expected ${STORE_URL_FORMS}`);
  return place;
}

function sameStore(one: string, other: string): boolean {
  return openStore(one, process.cwd()).url === openStore(other, process.cwd()).url;
}

function describe(tallies: Readonly<Record<string, Tally>>): string {
  const parts = Object.entries(tallies)
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
