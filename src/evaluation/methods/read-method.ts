import { generic, oneModel, permuted, silent } from './ablations';
import { EXAMPLE_SET_NAMES } from '../../plan/plan';
import { conductor, examples, policyName, readPolicy, router } from './conductor';
import { learnedRouter } from './learned-router';
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
    throw new RangeError(
      `there is no method ${JSON.stringify(text)}: name some of ${Object.keys(METHODS).join(', ')}, or workers`,
    );
  }
  const value = readArgument(entry.argument, rest.join(':'), workers);
  if (value === null) {
    const expected = EXPECTED[entry.argument] ?? `one of ${workers.join(', ')} behind the colon`;
    throw new RangeError(`method ${JSON.stringify(text)} is not understood: expected ${expected}`);
  }
  return { name: value === '' ? name : `${name}:${value}`, method: entry.make(value) };
}

/** Whether a method, by its name, makes as many attempts as the Conductor's cost pays for. */
export function makesSamples(name: string): boolean {
  const [kind = ''] = name.split(':', 1);
  return [bestOf, vote].includes(METHODS[kind] ?? worker);
}

const EXPECTED: Readonly<Partial<Record<MethodEntry['argument'], string>>> = {
  none: 'nothing behind its name',
  examples: 'none, in-domain or mixed behind the colon',
  policy:
    'a depth from 0 to 9 behind the colon, or a checkpoint such as nightly/000040, or both, nightly/000040:1',
};

/** The method's argument in its full form; '' for none, null for one that it does not take. */
function readArgument(
  kind: MethodEntry['argument'],
  argument: string,
  workers: readonly string[],
): string | null {
  if (kind === 'policy') {
    const policy = readPolicy(argument);
    return policy && policyName(policy);
  }
  const usual = { examples: 'none', 'first worker': workers[0] ?? '' } as const;
  const value = argument === '' && (kind === 'examples' || kind === 'first worker') ? usual[kind] : argument;
  const known = {
    none: [''],
    examples: EXAMPLE_SET_NAMES,
    worker: workers,
    'first worker': workers,
    'any worker': ['', ...workers],
  } satisfies Record<typeof kind, readonly string[]>;
  return (known[kind] as readonly string[]).includes(value) ? value : null;
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
