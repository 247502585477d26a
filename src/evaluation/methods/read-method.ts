import { UsageError } from '../../errors';
import { MAX_STEPS } from '../../protocol/messages';
import { ACCESS_MODES, EXAMPLE_SET_NAMES, type Plan } from '../../plan/plan';
import type { ConductorChange } from '../../protocol/input';
import type { Form, Method } from './method';
import { alone, generic, mixture, oneModel, permuted, randomPlan, reflection, silent } from './plans';

/** Models that methods may name. */
export interface Cast {
  /** Ids of the pool, in its order. */
  readonly workers: readonly string[];
  /** Workers outside the pool. */
  readonly baselines?: readonly { readonly id: string }[] | undefined;
  /** Additional Conductors, by name. */
  readonly conductors?: Readonly<Record<string, unknown>> | undefined;
}

/** How a method reads the argument after the colon of its name. */
interface MethodReader {
  readonly expected: (cast: Cast) => string;
  /** Returns the argument's full form, '' for none, and the method; null if the argument is not valid. */
  readonly read: (argument: string, cast: Cast) => readonly [full: string, method: Method] | null;
  /** Set if the argument names a worker: whether none is the first one, and whether `:team` may follow. */
  readonly worker?: { readonly isOptional: boolean; readonly hasForms: boolean };
}

function withoutArgument(method: Method): MethodReader {
  return {
    expected: () => 'nothing after its name',
    read: (argument) => (argument === '' ? ['', method] : null),
  };
}

const TEAM = ':team';

/** Accepts a worker or a baseline, and optionally `:team` after it. */
function askingOne(make: (worker: string, form: Form) => Method, isOptional = true): MethodReader {
  const idsOf = ({ workers, baselines = [] }: Cast): string[] => [
    ...workers,
    ...baselines.map(({ id }) => id),
  ];
  return {
    worker: { isOptional, hasForms: true },
    expected: (cast) => `${oneOf(idsOf(cast))}, and optionally :team after it for the form of a plan's steps`,
    read: (argument, cast) => {
      const form = argument.endsWith(TEAM) ? 'team' : 'bare';
      const text = form === 'team' ? argument.slice(0, -TEAM.length) : argument;
      const id = text === '' && isOptional ? cast.workers[0] : pickName(text, idsOf(cast));
      return id === undefined ? null : [form === 'team' ? id + TEAM : id, make(id, form)];
    },
  };
}

function planning(write: (worker: string, form: Form) => Plan): (worker: string, form: Form) => Method {
  return (worker, form) => {
    return { kind: 'plan', solo: { worker, form }, write: (_, asked) => write(worker, asked) };
  };
}

function sampling(choose: 'judge' | 'vote'): (worker: string, form: Form) => Method {
  return (worker, form) => ({ kind: 'samples', form, worker, choose });
}

function oneOf(ids: readonly string[]): string {
  return `one of ${ids.join(', ')} after the colon`;
}

function pickName<Name extends string>(text: string, known: readonly Name[]): Name | undefined {
  return known.find((each) => each === text);
}

/** Gives the Conductor another prompt than usual. @param unnamed meant without an argument */
function changingPrompt<Name extends string>(
  known: readonly Name[],
  unnamed: Name,
  expected: string,
  change: (name: Name) => ConductorChange,
): MethodReader {
  return {
    expected: () => `${expected} after the colon`,
    read: (argument) => {
      const name = argument === '' ? unnamed : pickName(argument, known);
      return name === undefined ? null : [name, { kind: 'conductor', depth: 0, change: change(name) }];
    },
  };
}

/** Every worker answers in each layer, so the maximum steps of a plan limit the number of layers. */
function mostLayers(workers: readonly string[]): number {
  return Math.floor((MAX_STEPS - 1) / workers.length);
}

interface AskedPolicy {
  readonly checkpoint: string | null;
  /** Name of a Conductor in the configuration. */
  readonly named: string | null;
  readonly depth: number;
}

/** Parses `1`, `frontier`, `nightly/000040` and `nightly/40:1` (40: number of a cycle); null for anything else. */
export function readPolicy(argument: string): AskedPolicy | null {
  const found =
    /^(?:(?<run>[a-z0-9][a-z0-9-]{0,62})\/(?<name>[a-z0-9][a-z0-9-]{0,62})|(?<named>[a-z][a-z0-9-]{0,62}))?(?:(?:^|:)(?<depth>\d))?$/.exec(
      argument,
    );
  if (found === null) return null;
  const { run, name = '', named = null, depth = '0' } = found.groups ?? {};
  const whole = /^\d{1,6}$/.test(name) ? name.padStart(6, '0') : name;
  return { checkpoint: run === undefined ? null : `${run}/${whole}`, named, depth: Number(depth) };
}

const MOST_TURNS = 5;

/** Methods by name, as in docs/evaluation.md. */
export const METHODS: Readonly<Record<string, MethodReader>> = {
  conductor: {
    expected: ({ conductors = {} }) => {
      const names = Object.keys(conductors).join(', ');
      return (
        `a depth from 0 to 9 after the colon, ${names === '' ? '' : `one of ${names}, `}` +
        'or a checkpoint such as nightly/000040, or both, nightly/000040:1'
      );
    },
    read: (argument, { conductors = {} }) => {
      const policy = readPolicy(argument);
      if (policy === null) return null;
      const { checkpoint, named, depth } = policy;
      if (named !== null && !Object.hasOwn(conductors, named)) return null;
      const full = [checkpoint ?? named ?? '', depth === 0 ? '' : depth].filter((part) => part !== '');
      const change = checkpoint === null ? {} : { change: { checkpoint } };
      return [full.join(':'), { kind: 'conductor', depth, ...change, ...(named !== null && { named }) }];
    },
  },
  worker: askingOne(planning(alone), false),
  'best-of': askingOne(sampling('judge')),
  vote: askingOne(sampling('vote')),
  reflection: askingOne(planning(reflection)),
  mixture: {
    expected: ({ workers }) =>
      `${oneOf(workers)}, and optionally a second colon and up to ${mostLayers(workers)} layers`,
    read: (argument, { workers }) => {
      const [, id, layers = '1'] = /^([^:]*)(?::([1-9]\d?))?$/.exec(argument) ?? [];
      if (id === undefined || !['', ...workers].includes(id) || Number(layers) > mostLayers(workers))
        return null;
      const full = layers === '1' ? id : `${id}:${layers}`;
      return [full, { kind: 'plan', write: (team) => mixture(team, id, Number(layers)) }];
    },
  },
  // The Conductor's model only chooses one worker for each question, as a prompted router does.
  router: withoutArgument({ kind: 'conductor', depth: 0, steps: 1 }),
  // One step at a time: the Conductor sees each output before it plans the next step or accepts, as in TRINITY
  // (arXiv 2512.04695), which fixes no plan in advance.
  turns: withoutArgument({ kind: 'conductor', depth: MOST_TURNS - 1, steps: 1, recursion: 'review' }),
  'learned-router': withoutArgument({ kind: 'routed' }),
  agreement: withoutArgument({ kind: 'agreement' }),
  random: withoutArgument({ kind: 'plan', write: randomPlan }),
  generic: withoutArgument(generic),
  silent: withoutArgument(silent),
  'one-model': {
    worker: { isOptional: true, hasForms: false },
    expected: ({ workers }) => oneOf(workers),
    read: (argument, { workers }) => {
      const id = argument === '' ? workers[0] : pickName(argument, workers);
      return id === undefined ? null : [id, oneModel(id)];
    },
  },
  permuted: withoutArgument(permuted),
  // The Conductor with other example plans than usual, or none (the paper's ablation of few-shot examples).
  examples: changingPrompt(EXAMPLE_SET_NAMES, 'none', 'none, in-domain or mixed', (examples) => ({
    examples,
  })),
  // The Conductor with another notation for what a step sees (the paper's ablation of finer access).
  access: changingPrompt(ACCESS_MODES, 'binary', ACCESS_MODES.join(' or '), (access) => ({ access })),
};

function readerOf(name: string): MethodReader | undefined {
  return Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
}

/** Whether a name leaves open which worker answers. */
export function isOfAnyWorker(name: string): boolean {
  return readerOf(name)?.worker?.isOptional === true;
}

/** Fills in a worker: `vote` or `vote:best` and `worker:sol:team` give `vote:sol:team`, unless `text` has a form. */
export function nameWorker(text: string, tried: string): string {
  const [name = '', , ...rest] = text.split(':');
  const [, id = '', ...form] = tried.split(':');
  const hasForms = readerOf(name)?.worker?.hasForms === true;
  return [name, id, ...(rest.length === 0 && hasForms ? form : rest)].join(':');
}

/** Method that others are compared with. Rewrites change its plans, and samples may cost as much as it did. */
export const REFERENCE = 'conductor';

/** Parses a method and completes its name: `vote` is `vote:gpt` if gpt is the first worker. @throws UsageError */
export function readMethod(text: string, cast: Cast): { name: string; method: Method } {
  const [name = '', ...rest] = text.split(':');
  const reader = readerOf(name);
  if (reader === undefined) {
    const names = Object.keys(METHODS).join(', ');
    throw new UsageError(`there is no method ${JSON.stringify(text)}: name some of ${names}, or workers`);
  }
  const read = reader.read(rest.join(':'), cast);
  if (read === null) {
    const expected = reader.expected(cast);
    throw new UsageError(`method ${JSON.stringify(text)} is not understood: expected ${expected}`);
  }
  const [full, method] = read;
  return { name: full === '' ? name : `${name}:${full}`, method };
}

/**
 * Parses a list of methods into distinct full names: `workers` is every worker alone, `workers:team` in team form.
 * The Conductor is added if a method needs its result. @throws UsageError
 */
export function readMethods(texts: readonly string[], cast: Cast): string[] {
  const everyone = (form: string): string[] => cast.workers.map((id) => `worker:${id}${form}`);
  const named = texts.flatMap((text) => {
    if (text === 'workers') return everyone('');
    return text === `workers${TEAM}` ? everyone(TEAM) : [text];
  });
  const read = named.map((text) => readMethod(text, cast));
  const needsReference = read.some(({ method }) => method.kind === 'rewrite' || method.kind === 'samples');
  const names = read.map(({ name }) => name);
  return [...new Set(needsReference && !names.includes(REFERENCE) ? [REFERENCE, ...names] : names)];
}
