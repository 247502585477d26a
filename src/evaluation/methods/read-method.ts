import { UsageError } from '../../errors';
import { MAX_STEPS } from '../../protocol/messages';
import { type Access, ACCESS_MODES, EXAMPLE_SET_NAMES, type ExampleSet, type Plan } from '../../plan/plan';
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

/** Argument after the colon of a method's name. */
interface Argument {
  readonly expected: (cast: Cast) => string;
  /** @returns its full form, '' for none; null if it is not valid */
  readonly read: (text: string, cast: Cast) => string | null;
}

const NOTHING: Argument = { expected: () => 'nothing after its name', read: (text) => oneOf([''], text) };

function workerOr(unnamed: (workers: readonly string[]) => string | null): Argument {
  return {
    expected: ({ workers }) => `one of ${workers.join(', ')} after the colon`,
    read: (text, { workers }) => (text === '' ? unnamed(workers) : oneOf(workers, text)),
  };
}

/** Accepts a worker or a baseline, and optionally `:team` after it. */
function asked({ expected, read }: Argument): Argument {
  const all = ({ workers, baselines = [] }: Cast): Cast => {
    return { workers: [...workers, ...baselines.map(({ id }) => id)] };
  };
  return {
    expected: (cast) =>
      `${expected(all(cast))}, and optionally :team after it for the form of a plan's steps`,
    read: (text, cast) => {
      const { id, form } = formIn(text);
      const worker = read(id, all(cast));
      return worker === null || form === 'bare' ? worker : `${worker}${TEAM}`;
    },
  };
}

const TEAM = ':team';

function formIn(text: string): { readonly id: string; readonly form: Form } {
  return text.endsWith(TEAM) ? { id: text.slice(0, -TEAM.length), form: 'team' } : { id: text, form: 'bare' };
}

const WORKER_OR_FIRST = workerOr(([first = null]) => first);
const ASKED_WORKER = asked(workerOr(() => null));
const ASKED_OR_FIRST = asked(WORKER_OR_FIRST);

/** Every worker answers in each layer, so the maximum steps of a plan limit the number of layers. */
const MIXTURE: Argument = {
  expected: ({ workers }) =>
    `one of ${workers.join(', ')} after the colon, and optionally a second colon and up to ${mostLayers(workers)} layers`,
  read: (text, { workers }) => {
    const [, id = '', layers = '1'] = /^([^:]*)(?::([1-9]\d?))?$/.exec(text) ?? [null, '?'];
    if ((id !== '' && !workers.includes(id)) || Number(layers) > mostLayers(workers)) return null;
    return layers === '1' ? id : `${id}:${layers}`;
  },
};

function mostLayers(workers: readonly string[]): number {
  return Math.floor((MAX_STEPS - 1) / workers.length);
}

const POLICY: Argument = {
  expected: ({ conductors = {} }) => {
    const names = Object.keys(conductors).join(', ');
    return (
      `a depth from 0 to 9 after the colon, ${names === '' ? '' : `one of ${names}, `}` +
      'or a checkpoint such as nightly/000040, or both, nightly/000040:1'
    );
  },
  read: (text, { conductors = {} }) => {
    const policy = readPolicy(text);
    if (policy === null) return null;
    const { checkpoint, named, depth } = policy;
    if (named !== null && !Object.hasOwn(conductors, named)) return null;
    return [checkpoint ?? named ?? '', depth === 0 ? '' : String(depth)]
      .filter((part) => part !== '')
      .join(':');
  },
};

const EXAMPLES: Argument = {
  expected: () => 'none, in-domain or mixed after the colon',
  read: (text) => oneOf(EXAMPLE_SET_NAMES, text === '' ? 'none' : text),
};

const ACCESS: Argument = {
  expected: () => `${ACCESS_MODES.join(' or ')} after the colon`,
  read: (text) => oneOf(ACCESS_MODES, text === '' ? 'binary' : text),
};

function oneOf(known: readonly string[], text: string): string | null {
  return known.includes(text) ? text : null;
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
export const METHODS: Readonly<
  Record<string, { readonly argument: Argument; readonly make: (argument: string) => Method }>
> = {
  conductor: {
    argument: POLICY,
    make: (policy) => {
      const { checkpoint = null, named = null, depth = 0 } = readPolicy(policy) ?? {};
      return {
        kind: 'conductor',
        depth,
        ...(checkpoint !== null && { change: { checkpoint } }),
        ...(named !== null && { named }),
      };
    },
  },
  worker: { argument: ASKED_WORKER, make: planning(alone) },
  'best-of': { argument: ASKED_OR_FIRST, make: sampling('judge') },
  vote: { argument: ASKED_OR_FIRST, make: sampling('vote') },
  reflection: { argument: ASKED_OR_FIRST, make: planning(reflection) },
  mixture: {
    argument: MIXTURE,
    make: (argument) => {
      const [id = '', layers = '1'] = argument.split(':');
      return { kind: 'plan', write: (team) => mixture(team, id, Number(layers)) };
    },
  },
  // The Conductor's model only chooses one worker for each question, as a prompted router does.
  router: { argument: NOTHING, make: () => ({ kind: 'conductor', depth: 0, steps: 1 }) },
  // One step at a time: the Conductor sees each output before it plans the next step or accepts, as in TRINITY
  // (arXiv 2512.04695), which fixes no plan in advance.
  turns: {
    argument: NOTHING,
    make: () => ({ kind: 'conductor', depth: MOST_TURNS - 1, steps: 1, recursion: 'review' }),
  },
  'learned-router': { argument: NOTHING, make: () => ({ kind: 'routed' }) },
  agreement: { argument: NOTHING, make: () => ({ kind: 'agreement' }) },
  random: { argument: NOTHING, make: () => ({ kind: 'plan', write: randomPlan }) },
  generic: { argument: NOTHING, make: () => generic },
  silent: { argument: NOTHING, make: () => silent },
  'one-model': { argument: WORKER_OR_FIRST, make: oneModel },
  permuted: { argument: NOTHING, make: () => permuted },
  // The Conductor with other example plans than usual, or none (the paper's ablation of few-shot examples).
  examples: {
    argument: EXAMPLES,
    make: (set) => ({ kind: 'conductor', depth: 0, change: { examples: set as ExampleSet } }),
  },
  // The Conductor with another notation for what a step sees (the paper's ablation of finer access).
  access: {
    argument: ACCESS,
    make: (mode) => ({ kind: 'conductor', depth: 0, change: { access: mode as Access } }),
  },
};

function planning(write: (id: string, form: Form) => Plan): (argument: string) => Method {
  return (argument) => {
    const { id: worker, form } = formIn(argument);
    return { kind: 'plan', solo: { worker, form }, write: (_, asked) => write(worker, asked) };
  };
}

function sampling(choose: 'judge' | 'vote'): (argument: string) => Method {
  return (argument) => {
    const { id: worker, form } = formIn(argument);
    return { kind: 'samples', form, worker, choose };
  };
}

function entryOf(name: string): (typeof METHODS)[string] | undefined {
  return Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
}

/** Whether a name leaves open which worker answers. */
export function isOfAnyWorker(name: string): boolean {
  const argument = entryOf(name)?.argument;
  return argument === WORKER_OR_FIRST || argument === ASKED_OR_FIRST;
}

/** Fills in a worker: `vote` or `vote:best` and `worker:sol:team` give `vote:sol:team`, unless `text` has a form. */
export function nameWorker(text: string, tried: string): string {
  const [name = '', , ...rest] = text.split(':');
  const [, id = '', ...form] = tried.split(':');
  const argument = entryOf(name)?.argument;
  const hasForms = argument === ASKED_WORKER || argument === ASKED_OR_FIRST;
  return [name, id, ...(rest.length === 0 && hasForms ? form : rest)].join(':');
}

/** Method that others are compared with. Rewrites change its plans, and samples may cost as much as it did. */
export const REFERENCE = 'conductor';

/** Parses a method and completes its name: `vote` is `vote:gpt` if gpt is the first worker. @throws UsageError */
export function readMethod(text: string, cast: Cast): { name: string; method: Method } {
  const [name = '', ...rest] = text.split(':');
  const entry = entryOf(name);
  if (entry === undefined) {
    const names = Object.keys(METHODS).join(', ');
    throw new UsageError(`there is no method ${JSON.stringify(text)}: name some of ${names}, or workers`);
  }
  const { argument, make } = entry;
  const value = argument.read(rest.join(':'), cast);
  if (value === null) {
    const expected = argument.expected(cast);
    throw new UsageError(`method ${JSON.stringify(text)} is not understood: expected ${expected}`);
  }
  return { name: value === '' ? name : `${name}:${value}`, method: make(value) };
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
