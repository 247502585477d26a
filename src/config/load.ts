import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { reasonOf } from '../errors';
import { defaultConfig, type Probe } from './default-pool';
import { ConfigError, explainIssue, settingNames, someOf } from './errors';
import { noticesOf } from './resolve-run';
import { type Config, type ConfigInput, configSchema } from './schema';

const FILE_NAME = 'conductor.yaml';

export interface LoadedConfig<Settings extends Config = Config> {
  readonly config: Settings;
  readonly path: string | null;
  /** Sentences on what is used in place of a file. */
  readonly notices: readonly string[];
  /** Sentences on limits that cannot be enforced and costs that are not booked, since a price is unknown. */
  readonly unpriced: readonly string[];
}

export interface LoadConfigOptions {
  readonly path?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Lists the models of a local server. @default by HTTP */
  readonly probe?: Probe;
}

/** Turns files and objects into a valid configuration, or throws a ConfigError that names the places at fault. */
export interface ConfigReader<Input, Settings extends Config> {
  /** Reads the named file, else `CONDUCTOR_CONFIG`, else `./conductor.yaml`, else makes a default for this machine. */
  readonly load: (options: LoadConfigOptions) => Promise<LoadedConfig<Settings>>;
  readonly parse: (content: Input) => Settings;
  /** Reads the given path or content, else the file that a command would read. */
  readonly readGiven: (given: string | Input | undefined) => Settings;
}

/** @param complete fills in the written content before validation, for an add-on with its own section */
export function createConfigReader<Input, Settings extends Config>(
  schema: z.ZodType<Settings>,
  complete: (written: unknown) => unknown,
  unpricedNoticesOf: (config: Settings) => string[],
): ConfigReader<Input, Settings> {
  const check = (written: unknown, whereIs: (path: readonly PropertyKey[]) => string): Settings => {
    const content = complete(written);
    const { success, data, error } = schema.safeParse(content);
    if (success) return data;
    const settings = settingNames(schema);
    const sentences = error.issues.map((issue) => {
      const key = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
      return `${whereIs([...issue.path, ...key])}: ${explainIssue(issue, content, settings)}`;
    });
    throw new ConfigError(someOf(sentences.sort(byPlace.compare), '\n'));
  };
  const parse = (content: unknown): Settings => check(content, () => 'configuration');
  const readFile = (path: string, name = path): Settings => {
    const { content, placeOf } = readYaml(read(path), name);
    return check(content, (place) => `${name}:${placeOf(place)}`);
  };
  return {
    load: async (options) => {
      const { path, env, probe } = options;
      const named = path ?? env.CONDUCTOR_CONFIG;
      const file = configPath(options);
      if (named === undefined && !existsSync(file)) {
        const { config: found, notice } = await defaultConfig(env, probe);
        const config = parse(found);
        return { config, path: null, notices: [notice], unpriced: unpricedNoticesOf(config) };
      }
      const config = readFile(file, named ?? FILE_NAME);
      return { config, path: file, notices: [], unpriced: unpricedNoticesOf(config) };
    },
    parse,
    readGiven: (given = process.env.CONDUCTOR_CONFIG ?? FILE_NAME) =>
      typeof given === 'string' ? readFile(given) : parse(given),
  };
}

/** Sorts line 9 before line 10. */
const byPlace = new Intl.Collator('en', { numeric: true });

// Explicit type: declarations would spell out the inferred one in full, which a user's stricter compiler rejects.
type SolveConfigReader = ConfigReader<ConfigInput, Config>;
const reader: SolveConfigReader = createConfigReader(configSchema, (written) => written, noticesOf);
export const loadConfig: SolveConfigReader['load'] = reader.load;
export const parseConfig: SolveConfigReader['parse'] = reader.parse;
export const readGivenConfig: SolveConfigReader['readGiven'] = reader.readGiven;

/** Returns the path from which a command reads its configuration; the file need not exist. */
export function configPath({ path, env, cwd }: Omit<LoadConfigOptions, 'probe'>): string {
  return resolve(cwd, path ?? env.CONDUCTOR_CONFIG ?? FILE_NAME);
}

function read(file: string): string {
  if (!existsSync(file)) {
    throw new ConfigError(
      `${file} does not exist: create it, or name another file with --config or CONDUCTOR_CONFIG`,
    );
  }
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

/** Far more than a person writes. The parser takes quadratic time: a megabyte takes minutes. */
const MAX_CHARACTERS = 64 * 1024;

/** Parsed YAML text, and `line:column` (from 1) of the value at a path or of the nearest one around it. */
export interface YamlSource {
  readonly content: unknown;
  readonly placeOf: (path: readonly PropertyKey[]) => string;
}

/**
 * @param name name of the text in errors, e.g. its path
 * @throws ConfigError with the place but without the line itself, which may contain a key put there by mistake
 */
export function readYaml(text: string, name: string): YamlSource {
  if (text.length > MAX_CHARACTERS) {
    throw new ConfigError(
      `${name} has ${text.length.toLocaleString('en-US')} characters, and at most ` +
        `${MAX_CHARACTERS.toLocaleString('en-US')} are read: is this the right file?`,
    );
  }
  const lines = new LineCounter();
  const placeAt = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${line}:${col}`;
  };
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
    const [error] = document.errors;
    if (error === undefined) {
      return {
        content: document.toJS(),
        placeOf: (path) => placeAt(offsetOf(document.contents, path)),
      };
    }
    throw new ConfigError(`${name}:${placeAt(error.pos[0])}: this is not valid YAML: ${verdictOf(error)}`);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    // The text is nested deeper than the parser's stack, or its aliases expand too far.
    throw new ConfigError(`${name} cannot be read: ${verdictOf(error)}`);
  }
}

/** Returns the parser's message without the quoted piece of text, which may be a key. */
function verdictOf(error: unknown): string {
  const sentence = reasonOf(error);
  return sentence.split(/(?<=\S): /)[0] ?? sentence;
}

/** Returns the offset of the deepest node on the path: if a key is missing, that of the map that should contain it. */
function offsetOf(contents: unknown, path: readonly PropertyKey[]): number {
  let node = contents;
  let offset = offsetOfNode(contents) ?? 0;
  for (const key of path) {
    const entry = isMap(node)
      ? node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key))
      : undefined;
    // A map entry is located by its key.
    const marker = isSeq(node) ? node.items[Number(key)] : entry?.key;
    if (marker === undefined) break;
    offset = offsetOfNode(marker) ?? offset;
    node = entry === undefined ? marker : entry.value;
  }
  return offset;
}

function offsetOfNode(node: unknown): number | null {
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}
