import { EXAMPLE_SET_NAMES, type ExampleSet } from '../../plan/plan';
import { learnedRouter } from './learned-router';
import { type Method, type MethodEntry, NO_ARGUMENT, oneOf } from './method';
import { generic, mixture, oneModel, permuted, randomPlan, reflection, silent, worker } from './plans';
import { bestOf, vote } from './samples';

const conductor: MethodEntry = {
  description:
    'the Conductor of the configuration; conductor:1 may call itself, conductor:2 twice as deep; ' +
    'conductor:nightly/000040 is that checkpoint, conductor:nightly/000040:1 may call itself',
  argument: {
    expected: () =>
      'a depth from 0 to 9 behind the colon, or a checkpoint such as nightly/000040, or both, nightly/000040:1',
    read: (text) => {
      const policy = readPolicy(text);
      if (policy === null) return null;
      const { checkpoint, depth } = policy;
      return [checkpoint ?? '', depth === 0 ? '' : String(depth)].filter((part) => part !== '').join(':');
    },
  },
  make: (argument) => {
    const { checkpoint, depth } = readPolicy(argument) ?? { checkpoint: null, depth: 0 };
    return { kind: 'conductor', depth, ...(checkpoint !== null && { change: { checkpoint } }) };
  },
};

/** Reads `1`, `nightly/000040` and `nightly/40:1`, where 40 is the number of a cycle; null for anything else. */
export function readPolicy(
  argument: string,
): { readonly checkpoint: string | null; readonly depth: number } | null {
  const found =
    /^(?:(?<run>[a-z0-9][a-z0-9-]{0,62})\/(?<name>[a-z0-9][a-z0-9-]{0,62}))?(?:(?:^|:)(?<depth>\d))?$/.exec(
      argument,
    );
  if (found === null) return null;
  const { run, name = '', depth = '0' } = found.groups ?? {};
  const whole = /^\d{1,6}$/.test(name) ? name.padStart(6, '0') : name;
  return { checkpoint: run === undefined ? null : `${run}/${whole}`, depth: Number(depth) };
}

/** The Conductor's model chooses one worker for each question, and no more: what a prompted router does. */
const router: MethodEntry = {
  description: 'the Conductor chooses one worker for each question, and that one answers',
  argument: NO_ARGUMENT,
  make: () => ({ kind: 'conductor', depth: 0, steps: 1 }),
};

/** The Conductor, shown other examples of plans than usual, or none (the paper's ablation of few-shot examples). */
const examples: MethodEntry = {
  description: 'the Conductor without examples of plans, with examples:in-domain or examples:mixed',
  argument: {
    expected: () => 'none, in-domain or mixed behind the colon',
    read: (text) => oneOf(EXAMPLE_SET_NAMES, text === '' ? 'none' : text),
  },
  make: (set) => ({ kind: 'conductor', depth: 0, change: { examples: set as ExampleSet } }),
};

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
