import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { applyProfile } from '../training/config/profile';
import { defaultConfig, type Probe } from './default-pool';
import { ConfigError, explainIssue } from './errors';
import { noticesOf } from './notices';
import { type Config, type ConfigInput, configSchema } from './schema';
import { readYaml } from './yaml-source';

const FILE_NAME = 'conductor.yaml';

/** A configuration and where it came from. */
export interface LoadedConfig {
  readonly config: Config;
  /** Absolute path of the file; null for the embedded default. */
  readonly path: string | null;
  /** Plain sentences for the person who starts the command: what is read but has no effect, or is weak. */
  readonly notices: readonly string[];
}

/** Where a command looks for its configuration. */
export interface LoadConfigOptions {
  /** What `--config` names. */
  readonly path?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** How a local server is asked for its models; by HTTP unless a test knows better. */
  readonly probe?: Probe;
}

/**
 * The configuration of a command: the named file, else `CONDUCTOR_CONFIG`, else `./conductor.yaml`, else the embedded
 * default, which depends on the keys and servers at hand.
 *
 * @throws ConfigError
 */
export async function loadConfig({ path, env, cwd, probe }: LoadConfigOptions): Promise<LoadedConfig> {
  const named = path ?? env.CONDUCTOR_CONFIG;
  const file = resolve(cwd, named ?? FILE_NAME);
  if (named === undefined && !existsSync(file)) {
    const { config: found, notices } = await defaultConfig(env, probe);
    const config = parseConfig(found);
    return { config, path: null, notices: [...notices, ...noticesOf(config)] };
  }
  const config = readConfigText(read(file), named ?? FILE_NAME);
  return { config, path: file, notices: noticesOf(config) };
}

/**
 * Reads and checks one configuration file.
 *
 * @throws ConfigError
 */
export function readConfigFile(path: string): Config {
  return readConfigText(read(path), path);
}

/**
 * Checks a configuration that a program holds as an object.
 *
 * @throws ConfigError that names every place at fault
 */
export function parseConfig(content: ConfigInput): Config {
  return check(content, () => 'configuration');
}

function readConfigText(text: string, name: string): Config {
  const { content, placeOf } = readYaml(text, name);
  return check(content, (path) => `${name}:${placeOf(path)}`);
}

function check(written: unknown, whereIs: (path: readonly PropertyKey[]) => string): Config {
  const content = applyProfile(written);
  const { success, data, error } = configSchema.safeParse(content);
  if (success) return data;
  const sentences = error.issues.map((issue) => {
    const key = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    return `${whereIs([...issue.path, ...key])}: ${explainIssue(issue, content)}`;
  });
  throw new ConfigError(sentences.join('\n'));
}

function read(file: string): string {
  if (!existsSync(file)) {
    throw new ConfigError(`${file} does not exist: create it, or name another file with --config`);
  }
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${file} cannot be read: ${reason}`, { cause: error });
  }
}
