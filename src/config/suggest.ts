import type { z } from 'zod';

/** The word of a list that was most likely meant; undefined where none is near. */
export function closestTo(word: string, words: readonly string[]): string | undefined {
  return closeTo(word, words)[0];
}

/** The words of a list that may have been meant, the likeliest first. */
export function closeTo(word: string, words: readonly string[]): string[] {
  const near = words
    .map((other) => ({ other, distance: distanceOf(plainly(word), plainly(other)) }))
    .filter(({ other, distance }) => distance <= Math.ceil(Math.min(word.length, other.length) / 3))
    .sort((a, b) => a.distance - b.distance);
  return near.map(({ other }) => other);
}

/** `max_output_tokens` and `MaxOutputTokens` are no mistakes in typing. */
function plainly(word: string): string {
  return word.slice(0, 64).toLowerCase().replace(/[_-]/g, '');
}

/** Letters to insert, to leave out or to replace: https://en.wikipedia.org/wiki/Levenshtein_distance */
function distanceOf(one: string, other: string): number {
  const at = (row: readonly number[], index: number): number => row[index] ?? 0;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(one).entries()) {
    const next = [i + 1];
    for (const [j, each] of Array.from(other).entries()) {
      next.push(Math.min(at(next, j) + 1, at(row, j + 1) + 1, at(row, j) + Number(letter !== each)));
    }
    row = next;
  }
  return at(row, other.length);
}

/** The settings that a schema knows at a place, where `value` stands. */
export function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[], value: unknown): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return keysOfObject(def.shape, path, value);
    case 'array':
      return keysAt(def.element, path.slice(1), valueIn(value, path[0]));
    case 'union':
      return def.options
        .filter((option) => fits(option, value))
        .flatMap((option) => keysAt(option, path, value));
    case 'pipe':
      return keysAt(def.out, path, value);
    default:
      return 'innerType' in def ? keysAt(def.innerType, path, value) : [];
  }
}

function keysOfObject(
  shape: z.core.$ZodShape,
  [key, ...rest]: readonly PropertyKey[],
  value: unknown,
): string[] {
  if (key === undefined) return Object.keys(shape);
  const inside = shape[String(key)];
  return inside === undefined ? [] : keysAt(inside, rest, valueIn(value, key));
}

export function valueIn(value: unknown, key: PropertyKey | undefined): unknown {
  return typeof value === 'object' && value !== null && key !== undefined
    ? (Reflect.get(value, key) as unknown)
    : undefined;
}

/** Whether a member of a union is the one that a value means, by its literals. */
function fits(option: z.core.$ZodType, value: unknown): boolean {
  const { def } = (option as z.core.$ZodTypes)._zod;
  if (def.type !== 'object') return true;
  return Object.entries(def.shape).every(([key, each]) => {
    const { def: own } = (each as z.core.$ZodTypes)._zod;
    return own.type !== 'literal' || (own.values as unknown[]).includes(valueIn(value, key));
  });
}
