import { conductor, examples, router } from './conductor';
import { learnedRouter } from './learned-router';
import type { Method, MethodEntry } from './method';
import { generic, mixture, oneModel, permuted, randomPlan, reflection, silent, worker } from './plans';
import { bestOf, vote } from './samples';

/** Every method by its name, in the order of the help. */
export const METHODS: Readonly<Record<string, MethodEntry>> = {
  conductor,
  worker,
  'best-of': bestOf,
  vote,
  reflection,
  mixture,
  router,
  'learned-router': learnedRouter,
  random: randomPlan,
  generic,
  silent,
  'one-model': oneModel,
  permuted,
  examples,
};

/** The method that others are held against: its plans are rewritten, and its cost is what samples may cost. */
export const REFERENCE = 'conductor';

/**
 * The method that is meant by a name, in its full form: `vote` is `vote:gpt` where the pool begins with `gpt`.
 *
 * @throws RangeError with a sentence for what names none
 */
export function readMethod(text: string, workers: readonly string[]): { name: string; method: Method } {
  const [name = '', ...rest] = text.split(':');
  const entry = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (entry === undefined) {
    const names = Object.keys(METHODS).join(', ');
    throw new RangeError(`there is no method ${JSON.stringify(text)}: name some of ${names}, or workers`);
  }
  const { argument, make } = entry;
  const value = argument.read(rest.join(':'), workers);
  if (value === null) {
    const expected = argument.expected(workers);
    throw new RangeError(`method ${JSON.stringify(text)} is not understood: expected ${expected}`);
  }
  return { name: value === '' ? name : `${name}:${value}`, method: make(value) };
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
