import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { reasonOf } from '../reason-of';
import { ConfigError } from './errors';

/** Far more than a person writes. What the parser needs grows with the square of a text: a megabyte takes minutes. */
const MAX_CHARACTERS = 64 * 1024;

/** A parsed YAML text that still knows where each of its values stands. */
export interface YamlSource {
  readonly content: unknown;
  /** `line:column` of the value at a path, or of the nearest value around it, both counted from 1. */
  readonly placeOf: (path: readonly PropertyKey[]) => string;
}

/**
 * @param name what errors call the text, e.g. its path
 * @throws ConfigError with the place, and without the line itself, which may hold a key put there by mistake
 */
export function readYaml(text: string, name: string): YamlSource {
  if (text.length > MAX_CHARACTERS) {
    throw new ConfigError(
      `${name} has ${text.length.toLocaleString('en-US')} characters, and a configuration has at most ` +
        `${MAX_CHARACTERS.toLocaleString('en-US')}: is this the right file?`,
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
    // What is nested deeper than the parser's stack, or multiplies by aliases, is no configuration.
    throw new ConfigError(`${name} cannot be read: ${verdictOf(error)}`);
  }
}

/** Takes the parser's finding without the quoted piece of text, which may be a key. */
function verdictOf(error: unknown): string {
  const sentence = reasonOf(error);
  return sentence.split(/(?<=\S): /)[0] ?? sentence;
}

/** Walks as far as the path goes: where a key is missing, the map that should hold it is the place to look at. */
function offsetOf(contents: unknown, path: readonly PropertyKey[]): number {
  let node = contents;
  let offset = startOf(contents) ?? 0;
  for (const key of path) {
    const entry = isMap(node)
      ? node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key))
      : undefined;
    // The place of a map's entry is its key.
    const marker = isSeq(node) ? node.items[Number(key)] : entry?.key;
    if (marker === undefined) break;
    offset = startOf(marker) ?? offset;
    node = entry === undefined ? marker : entry.value;
  }
  return offset;
}

function startOf(node: unknown): number | null {
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}
