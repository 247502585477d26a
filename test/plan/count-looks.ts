import { Reader } from '../../src/plan/reply/reader';

type Method = (this: unknown, ...input: unknown[]) => unknown;

/** Replaces a method by one that also reports each use; returns what puts the method back. */
function watch(prototype: object, name: string, report: (used: Use) => void): () => void {
  const original = Reflect.get(prototype, name) as Method;
  const watched: Method = function (...input) {
    const from = this instanceof RegExp ? this.lastIndex : Number(input[1] ?? 0);
    const result = original.apply(this, input);
    report({ self: this, input, from, result });
    return result;
  };
  Reflect.set(prototype, name, watched);
  return () => Reflect.set(prototype, name, original);
}

interface Use {
  readonly self: unknown;
  readonly input: readonly unknown[];
  /** Where a search began. */
  readonly from: number;
  readonly result: unknown;
}

/**
 * How many characters a run of the parser looks at, whether through its reader, a pattern or a search of the
 * language: what makes its time, without a clock.
 */
export function countLooks(run: () => void): number {
  let looks = 0;
  const restore = [
    watch(Reader.prototype, 'peek', () => (looks += 1)),
    watch(RegExp.prototype, 'exec', ({ self, input, from, result }) => {
      looks += 1 + charactersSearched(self, String(input[0]), from, result);
    }),
    watch(String.prototype, 'indexOf', ({ self, from, result }) => {
      looks += result === -1 ? String(self).length - from : Number(result) - from;
    }),
    watch(String.prototype, 'lastIndexOf', ({ from, result }) => (looks += from - Number(result))),
    watch(String.prototype, 'slice', ({ result }) => (looks += String(result).length)),
  ];
  try {
    run();
    return looks;
  } finally {
    for (const back of restore) back();
  }
}

/** A sticky pattern tries one place only; another searches on to its match, or to the end. */
function charactersSearched(pattern: unknown, text: string, from: number, match: unknown): number {
  if (Array.isArray(match)) return Number(Reflect.get(match, 'index')) - from + String(match[0]).length;
  return pattern instanceof RegExp && pattern.sticky ? 0 : text.length - from;
}
