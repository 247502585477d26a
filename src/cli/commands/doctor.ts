import { existsSync, statSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import type { LoadedConfig } from '../../config/load';
import { loadTrainableConfig } from '../../training/config/load';
import { describeConductor } from '../../config/notices';
import { resolveRun } from '../../config/resolve-run';
import type { TrainableConfig as Config } from '../../training/config/schema';
import { configuredKeys } from '../../encryption/keys';
import { configuredServer } from '../../local/configured-server';
import { readServerRecord } from '../../local/lease';
import { runProgram, stillRuns } from '../../local/processes';
import { reasonOf } from '../../local/reason-of';
import { CLI_AT_HAND, findTemporalCli } from '../../local/temporal-cli';
import { openStore } from '../../store/open-store';
import { readStoreUrl } from '../../store/store';
import type { Paint } from '../../trace/lines';
import { type AddCommands, CONFIG, readDays } from '../arguments';
import { FOLDER } from '../attach';
import { EXIT, type ExitCode } from '../exit-code';
import { modelCardsOf } from '../settings';
import { paintFor, print } from '../terminal';

/** Says what is installed, reachable and allowed here; fails if something that a solve needs is not. */
export async function doctor(options: { readonly config?: string }): Promise<ExitCode> {
  const { config, findings } = await checkConfig(options.config);
  const all = [
    checkNode(),
    await checkPython(),
    await checkTemporalCli(),
    ...(await checkServer(config?.temporal.namespace ?? 'default')),
    ...findings,
    ...(config === null ? [] : await checkPoolOf(config)),
  ];
  const paint = paintFor(process.stdout);
  await print(all.map((finding) => describeFinding(finding, paint)).join('\n'));
  return all.some(({ state }) => state === 'broken') ? EXIT.failed : EXIT.answered;
}

async function checkPoolOf(config: Config): Promise<Finding[]> {
  const isLocal = modelCardsOf(resolveRun(config)).some(({ provider }) => provider === 'local');
  return [
    ...checkKeys(config),
    ...checkEncryption(config),
    await checkStore(config),
    checkLocalEngine(isLocal),
  ];
}

const WHAT_COLUMNS = 16;

function describeFinding({ what, state, text }: Finding, paint: Paint): string {
  const mark = { fine: paint.good('✓'), note: paint.busy('·'), broken: paint.bad('✗') }[state];
  // What goes on below the first line of a finding stands under its beginning.
  return `${mark} ${what.padEnd(WHAT_COLUMNS)}${text.replaceAll('\n', `\n${' '.repeat(WHAT_COLUMNS + 2)}`)}`;
}

/** The configuration, if it can be used, and what there is to say of it. */
async function checkConfig(
  path: string | undefined,
): Promise<{ config: Config | null; findings: Finding[] }> {
  const what = 'Configuration';
  try {
    const loaded = await loadTrainableConfig({ env: process.env, cwd: process.cwd(), ...(path && { path }) });
    const notes = loaded.notices.map((notice) => note(what, notice));
    return { config: loaded.config, findings: [fine(what, originOf(loaded)), ...notes] };
  } catch (error) {
    return { config: null, findings: [broken(what, reasonOf(error))] };
  }
}

function originOf({ path, config }: LoadedConfig): string {
  const { conductor, workers } = config;
  const pool = `Conductor ${describeConductor(conductor)}, workers ${workers.map(({ id }) => id).join(', ')}`;
  return `${path ?? 'built in'}: ${pool}`;
}

/** Whether the key variables are set; what is in them is nobody's business. */
function checkKeys(config: Config): Finding[] {
  const names = modelCardsOf(resolveRun(config)).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  return [...new Set(names)].map((name) =>
    process.env[name]
      ? fine('Key', `${name} is set`)
      : broken('Key', `${name} is not set: put the key into this environment variable`),
  );
}

/** Whether the keys are there that the configuration asks to encrypt with; nothing where it asks for none. */
function checkEncryption(config: Config): Finding[] {
  try {
    const keys = configuredKeys(config);
    if (keys === undefined) return [];
    const [first, ...others] = keys.all.map(({ id }) => id);
    const readable = others.length === 0 ? '' : `; what ${others.join(', ')} encrypted can be read`;
    return [fine('Encryption', `with key ${String(first)}${readable}`)];
  } catch (error) {
    return [broken('Encryption', reasonOf(error))];
  }
}

const OLDEST_NODE = [20, 3] as const;

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isNew = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  return isNew
    ? fine('Node', process.versions.node)
    : broken('Node', `${process.versions.node} is too old: install ${OLDEST_NODE.join('.')} or newer`);
}

/** Python serves to download two things, with the user's own package index; who has them needs none. */
async function checkPython(): Promise<Finding> {
  try {
    const printed = await runProgram('python3', ['-m', 'pip', '--version'], { timeoutMs: 10_000 });
    return fine('Python', printed.replace(/ from .*(\(.*\))/, ' $1').trim());
  } catch (error) {
    return note(
      'Python',
      `${reasonOf(error)}: install Python 3 with pip, should the Temporal CLI or the local model have to be downloaded`,
    );
  }
}

/** The Temporal CLI of the embedded server, as far as it is here already. */
async function checkTemporalCli(): Promise<Finding> {
  try {
    const { path, source } = await findTemporalCli({ say: () => undefined }, CLI_AT_HAND);
    return fine('Temporal CLI', `${path} (${source})`);
  } catch (error) {
    return process.env.TEMPORAL_CLI_PATH
      ? broken('Temporal CLI', reasonOf(error))
      : note('Temporal CLI', 'not here yet: the embedded server downloads it when it is first started');
  }
}

/** The engine of `provider: local`, an optional package. */
function checkLocalEngine(isNeeded: boolean): Finding {
  const what = 'Local engine';
  const folders = require.resolve.paths('node-llama-cpp') ?? [];
  const isThere = folders.some((folder) => existsSync(join(folder, 'node-llama-cpp', 'package.json')));
  if (isThere) return fine(what, 'node-llama-cpp is installed');
  return isNeeded
    ? broken(what, 'the configuration asks for provider "local": npm install node-llama-cpp')
    : note(what, 'node-llama-cpp is not installed; only provider "local" needs it');
}

const ANSWER_MS = 3_000;

/** The server that a command started now would use, looked at without starting one. */
async function checkServer(namespace: string): Promise<Finding[]> {
  const silences: Finding[] = [];
  try {
    const say = (line: string): void => {
      silences.push(note('Temporal server', line));
    };
    const configured = await configuredServer({ folder: FOLDER, namespace, say });
    if (configured === null) return [...silences, await checkEmbedded()];
    return [fine('Temporal server', `${configured.address} answers (${configured.source})`)];
  } catch (error) {
    return [broken('Temporal server', reasonOf(error))];
  }
}

async function checkEmbedded(): Promise<Finding> {
  const what = 'Temporal server';
  const record = await readServerRecord(resolve(FOLDER));
  const isRunning = record?.process != null && (await stillRuns(record.process.pid, record.process.mark));
  if (record === null || !isRunning) return fine(what, 'none runs in this folder; solve and up start one');
  const connection = await Connection.connect({ address: record.address, connectTimeout: ANSWER_MS });
  await connection.close();
  return fine(what, `${record.address} answers (this folder's own; page ${record.uiAddress})`);
}

/** Whether the store is there for this process: its folder takes files, or its bucket answers. Nothing is written. */
export async function checkStore({ store }: Pick<Config, 'store'>): Promise<Finding> {
  const place = readStoreUrl(store);
  return place?.kind === 'file' ? checkFolder(store, resolve(place.path)) : checkBucket(store);
}

/** The nearest folder above one that does not exist yet is what counts. */
async function checkFolder(store: string, folder: string): Promise<Finding> {
  try {
    const place = nearestExisting(folder);
    if (!statSync(place).isDirectory()) throw new Error(`${place} is no folder`);
    await access(place, constants.W_OK);
    return fine('Store', store);
  } catch (error) {
    return broken(
      'Store',
      `${store} cannot be written (${reasonOf(error)}): change its rights or "store" in the configuration`,
    );
  }
}

async function checkBucket(store: string): Promise<Finding> {
  try {
    await openStore(store, process.cwd()).list('doctor/');
    return fine('Store', `${store} answers`);
  } catch (error) {
    return broken('Store', reasonOf(error));
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(dirname(folder));
}

/** What one look at one thing found. */
export interface Finding {
  readonly what: string;
  /** `broken` keeps a solve from running; `note` is good to know. */
  readonly state: 'fine' | 'note' | 'broken';
  /** What is there, or what is wrong and how to mend it. */
  readonly text: string;
}

function fine(what: string, text: string): Finding {
  return { what, state: 'fine', text };
}

function note(what: string, text: string): Finding {
  return { what, state: 'note', text };
}

function broken(what: string, text: string): Finding {
  return { what, state: 'broken', text };
}

/** Commands that look after what runs need. */
export const addCare: AddCommands = (program, settle) => {
  program
    .command('doctor')
    .description('check what is installed, reachable and allowed, and say how to mend what is not')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { doctor } = await import('./doctor.js');
      settle(await doctor(options));
    });

  program
    .command('pool')
    .description('look after the pool')
    .command('check')
    .description('make one tiny call to the Conductor and to each worker')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { checkPool } = await import('./pool.js');
      settle(await checkPool(options));
    });

  program
    .command('store')
    .description('look after the store')
    .command('gc')
    .description('remove texts and answers that are old and that no run on the server refers to')
    .requiredOption('--older-than <days>', 'what is younger stays, e.g. 30d', readDays)
    .option('--dry-run', 'say what would be removed, and remove nothing')
    .option(...CONFIG)
    .action(async (options: { olderThan: number }) => {
      const { storeGc } = await import('./store-gc.js');
      settle(await storeGc(options));
    });
};
