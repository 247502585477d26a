/** Hostile values for an input's fields: other types, huge numbers, long texts. */
const STRANGE: readonly unknown[] = [
  undefined,
  null,
  true,
  'NaN',
  '',
  'x'.repeat(100_000),
  '../x',
  -1,
  0,
  0.5,
  1e9,
  Number.MAX_SAFE_INTEGER,
  1e308,
  [],
  [null],
  {},
];

/** An input with one field replaced, after a round trip through JSON. */
export interface Mangled {
  /** The field and its new value, shortened. */
  readonly what: string;
  readonly input: unknown;
}

/** Returns an input with each of its fields, at any depth, removed or replaced by each strange value. */
export function mangle(input: unknown): readonly Mangled[] {
  return pathsIn(input).flatMap((path) =>
    STRANGE.map((value) => ({
      what: `${path.join('.') || 'all'} = ${(value === undefined ? 'absent' : JSON.stringify(value)).slice(0, 20)}`,
      input: sent(replaced(input, path, value)),
    })),
  );
}

function sent(value: unknown): unknown {
  const json = JSON.stringify(value) as string | undefined;
  return json === undefined ? undefined : JSON.parse(json);
}

type Path = readonly string[];

export function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...path, key]))];
}

export function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) {
    const list: unknown[] = value;
    return list.map((inner, index) => (String(index) === key ? replaced(inner, rest, by) : inner));
  }
  const record = value as Record<string, unknown>;
  return { ...record, [key]: replaced(record[key], rest, by) };
}
