import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { defaultConfig, type Probe } from './default-pool';
import { ConfigError, explainIssue } from './errors';
import { noticesOf } from './notices';
import { type Config, type ConfigInput, configSchema } from './schema';
import { readYaml } from './yaml-source';

const FILE_NAME = 'conductor.yaml';

/** A configuration and where it came from. */
export interface LoadedConfig<Settings extends Config = Config> {
  readonly config: Settings;
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

/** What turns files and objects into a checked configuration. */
export interface ConfigReader<Input, Settings extends Config> {
  /**
   * The configuration of a command: the named file, else `CONDUCTOR_CONFIG`, else `./conductor.yaml`, else the embedded
   * default, which depends on the keys and servers of this machine.
   *
   * @throws ConfigError
   */
  readonly load: (options: LoadConfigOptions) => Promise<LoadedConfig<Settings>>;
  /**
   * Reads and checks one configuration file.
   *
   * @throws ConfigError
   */
  readonly readFile: (path: string) => Settings;
  /**
   * Checks a configuration that a program holds as an object.
   *
   * @throws ConfigError that names every place at fault
   */
  readonly parse: (content: Input) => Settings;
}

/** How an add-on has its own section of the file read along with the rest. */
interface ReaderOptions<Settings> {
  readonly schema: z.ZodType<Settings>;
  /** Completes what was written before it is checked. */
  readonly complete?: (written: unknown) => unknown;
  readonly noticesOf?: (config: Settings) => string[];
}

export function createConfigReader<Input, Settings extends Config>({
  schema,
  complete = (written) => written,
  noticesOf: ownNoticesOf = () => [],
}: ReaderOptions<Settings>): ConfigReader<Input, Settings> {
  const check = (written: unknown, whereIs: (path: readonly PropertyKey[]) => string): Settings => {
    const content = complete(written);
    const { success, data, error } = schema.safeParse(content);
    if (success) return data;
    const sentences = error.issues.map((issue) => {
      const key = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
      return `${whereIs([...issue.path, ...key])}: ${explainIssue(issue, content)}`;
    });
    throw new ConfigError(sentences.join('\n'));
  };
  const parse = (content: unknown): Settings => check(content, () => 'configuration');
  const readText = (text: string, name: string): Settings => {
    const { content, placeOf } = readYaml(text, name);
    return check(content, (path) => `${name}:${placeOf(path)}`);
  };
  const allNotices = (config: Settings): string[] => [...noticesOf(config), ...ownNoticesOf(config)];
  return {
    load: async (options) => {
      const { path, env, probe } = options;
      const named = path ?? env.CONDUCTOR_CONFIG;
      const file = configPath(options);
      if (named === undefined && !existsSync(file)) {
        const { config: found, notices } = await defaultConfig(env, probe);
        const config = parse(found);
        return { config, path: null, notices: [...notices, ...allNotices(config)] };
      }
      const config = readText(read(file), named ?? FILE_NAME);
      return { config, path: file, notices: allNotices(config) };
    },
    readFile: (path) => readText(read(path), path),
    parse,
  };
}

/** Reads all that a worker which solves needs. */
export const {
  load: loadConfig,
  readFile: readConfigFile,
  parse: parseConfig,
} = createConfigReader<ConfigInput, Config>({ schema: configSchema });

/** The file that a command reads its configuration from; it need not exist. */
export function configPath({ path, env, cwd }: Omit<LoadConfigOptions, 'probe'>): string {
  return resolve(cwd, path ?? env.CONDUCTOR_CONFIG ?? FILE_NAME);
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
