import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { ConfigError } from './errors';

/** A parsed YAML text that still knows where each of its values stands. */
export interface YamlSource {
  readonly content: unknown;
  /** `line:column` of the value at a path, or of the nearest value around it, both counted from 1. */
  readonly placeOf: (path: readonly PropertyKey[]) => string;
}

/**
 * Reads one YAML document.
 *
 * @param name what errors call the text, e.g. its path
 * @throws ConfigError with the place, and without the line itself, which may hold a key put there by mistake
 */
export function readYaml(text: string, name: string): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeAt = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${line}:${col}`;
  };
  const [error] = document.errors;
  if (error !== undefined) {
    throw new ConfigError(`${name}:${placeAt(error.pos[0])}: this is not valid YAML: ${error.message}`);
  }
  return {
    content: contentOf(document, name),
    placeOf: (path) => placeAt(offsetOf(document, path)),
  };
}

/** Builds the plain value; only here can aliases turn out to multiply beyond measure. */
function contentOf(document: Document.Parsed, name: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${name}: its aliases cannot be resolved: ${reason}`, { cause: error });
  }
}

/** Walks as far as the path goes: where a key is missing, the map that should hold it is the place to look at. */
function offsetOf({ contents }: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: unknown = contents;
  let offset = startOf(contents) ?? 0;
  for (const key of path) {
    const next = childAt(node, String(key));
    if (next === null) break;
    offset = startOf(next.marker) ?? offset;
    node = next.node;
  }
  return offset;
}

/** One step down: the child, and what marks its place, which for a map's entry is the key. */
function childAt(node: unknown, key: string): { node: unknown; marker: unknown } | null {
  if (isMap(node)) {
    const entry = node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key);
    return entry === undefined ? null : { node: entry.value, marker: entry.key };
  }
  const item = isSeq(node) ? node.items[Number(key)] : undefined;
  return item === undefined ? null : { node: item, marker: item };
}

function startOf(node: unknown): number | null {
  return isNode(node) ? (node.range?.[0] ?? null) : null;
}
