import { generic, oneModel, permuted, silent } from './ablations';
import { conductor, router } from './conductor';
import type { Method, MethodEntry } from './method';
import { mixture } from './mixture';
import { randomPlan } from './random';
import { bestOf, vote } from './samples';
import { reflection, worker } from './single';

/** Every method by its name, in the order of the help. */
export const METHODS: Readonly<Record<string, MethodEntry>> = {
  conductor,
  worker,
  'best-of': bestOf,
  vote,
  reflection,
  mixture,
  router,
  random: randomPlan,
  generic,
  silent,
  'one-model': oneModel,
  permuted,
};

/** The method that others are held against: its plans are rewritten, and its cost is what samples may cost. */
export const REFERENCE = 'conductor';

const DEPTHS = Array.from({ length: 10 }, (_, depth) => String(depth));

/**
 * The method that is meant by a name, in its full form: `vote` is `vote:gpt` where the pool begins with `gpt`.
 *
 * @throws RangeError with a sentence for what names none
 */
export function readMethod(text: string, workers: readonly string[]): { name: string; method: Method } {
  const [name = '', argument = '', ...rest] = text.split(':');
  const entry = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (entry === undefined || rest.length > 0) {
    throw new RangeError(
      `there is no method ${JSON.stringify(text)}: name some of ${Object.keys(METHODS).join(', ')}, or workers`,
    );
  }
  const value = checkArgument(text, entry, { argument, workers });
  return { name: value === '' ? name : `${name}:${value}`, method: entry.make(value) };
}

/** The method's argument in its full form; '' for none. */
function checkArgument(
  text: string,
  { argument: kind }: MethodEntry,
  { argument, workers }: { readonly argument: string; readonly workers: readonly string[] },
): string {
  const [known, expected] = argumentsOf(kind, workers);
  const standIn = kind === 'first worker' ? (workers[0] ?? '') : '';
  const value = argument === '' ? standIn : argument;
  const isNeeded = kind === 'worker';
  if (value === '' ? !isNeeded : known.includes(value)) return value === '0' ? '' : value;
  throw new RangeError(`method ${JSON.stringify(text)} is not understood: expected ${expected}`);
}

function argumentsOf(
  kind: MethodEntry['argument'],
  workers: readonly string[],
): readonly [known: readonly string[], expected: string] {
  switch (kind) {
    case 'none':
      return [[], 'nothing behind its name'];
    case 'depth':
      return [DEPTHS, 'a depth from 0 to 9 behind the colon'];
    default:
      return [workers, `one of ${workers.join(', ')} behind the colon`];
  }
}

/**
 * The methods that are meant by a list of names, each once: `workers` is every worker alone. Where one needs what the
 * Conductor did, the Conductor is among them.
 *
 * @throws RangeError with a sentence for what names none
 */
export function readMethods(texts: readonly string[], workers: readonly string[]): string[] {
  const named = texts.flatMap((text) => (text === 'workers' ? workers.map((id) => `worker:${id}`) : [text]));
  const read = named.map((text) => readMethod(text, workers));
  const needsReference = read.some(({ method }) => method.kind === 'rewrite' || method.kind === 'samples');
  const names = read.map(({ name }) => name);
  return [...new Set(needsReference && !names.includes(REFERENCE) ? [REFERENCE, ...names] : names)];
}
