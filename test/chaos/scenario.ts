import type { Step } from '../../src';
import type { TrainableInput } from '../../src/training';
import { renderPlan } from '../../src/plan/render';
import type { SharedLimit } from './audit-rates';
import type { Answer, FaultKind, ModelBehaviour, RequestRecord } from '../../src/testing';
import { BREAKAGES, ERRORS, FLAWS, SPOILED } from '../../src/testing/faults';

/** The share of requests that meet a fault. */
const FAULTY = 0.2;
/** Time limit of a run, whatever is killed; a run that has not ended by then is stuck. */
export const WALL_CLOCK_MS = 180_000;

const WORKERS = ['a', 'b', 'c', 'd'];
const PRICE = { input: 2, output: 10, cachedInput: 0.2 };
const KEY_VARIABLE = 'CHAOS_KEY';
const TASK_QUEUE = 'chaos';

const SOON = { ms: 300, as: 'milliseconds' } as const;
/** Faults that mean that the caller's own configuration is wrong. */
const OWN_FAULTS: readonly FaultKind[] = [
  'bad-request',
  'unauthorized',
  'forbidden',
  'not-found',
  'unprocessable',
];
const FAULTS = (Object.keys({ ...ERRORS, ...BREAKAGES, ...SPOILED, ...FLAWS }) as FaultKind[])
  .filter((fault) => !OWN_FAULTS.includes(fault))
  .map((fault) => (fault === 'rate-limited' ? { fault, retryAfter: SOON } : { fault }) as Answer);

/** A reply of a model, and the share of its requests that get this reply. */
interface Part {
  readonly share: number;
  readonly answer: Answer;
}

const faulty = (faults: readonly Answer[]): Part[] =>
  faults.map((answer) => ({ share: FAULTY / faults.length, answer }));

/** Returns a step with a subtask that identifies it: the last one in a request names its step, see `placeOf`. */
const step = (index: number, worker: string, sees: readonly number[]): Step => ({
  worker,
  subtask: `Part ${index}: carry it out.`,
  sees,
});

const PLANS: readonly (readonly Step[])[] = [
  [step(0, 'a', []), step(1, 'b', []), step(2, 'c', [0, 1])],
  [step(0, 'a', []), step(1, 'b', [0]), step(2, 'c', [0, 1]), step(3, 'd', [2])],
  [step(0, 'd', [])],
];

/** Texts that take longer to arrive than the log buffers them. */
const LONG: ModelBehaviour = {
  answer: 'What outlives a crash? 🙂 '.repeat(80),
  schedule: [...faulty(FAULTS), { share: 1 - FAULTY, answer: { fault: 'drip', ms: 1500 } }],
};

/** Returns a simulation with several plans and every kind of fault that is not the caller's own. */
export function simulationOf(
  seed: number,
  live: boolean,
): { seed: number; models: Record<string, ModelBehaviour> } {
  const [usual, long, short] = PLANS.map((steps) => renderPlan({ steps }, WORKERS));
  const plans: Part[] = [
    { share: 0.2, answer: long ?? '' },
    { share: 0.2, answer: short ?? '' },
  ];
  const noPlan: Answer = 'I would rather not plan.';
  const bearing = { price: PRICE, delayMs: 40 };
  const worker: ModelBehaviour = { ...bearing, schedule: faulty(FAULTS), ...(live && LONG) };
  const conductor: ModelBehaviour = {
    ...bearing,
    answer: usual ?? '',
    schedule: [...faulty([...FAULTS, noPlan]), ...plans],
  };
  const workers = Object.fromEntries(WORKERS.map((name) => [name, worker]));
  // Model b is slow enough for other requests to come meanwhile.
  return { seed, models: { conductor, ...workers, b: { ...worker, delayMs: 400 } } };
}

/** Limits that are low enough to be reached. */
const [AT_A_TIME, A_MINUTE] = [2, 15];

/** Limits that worker processes share if their store is a database. */
export const LIMITS: readonly SharedLimit[] = [
  { model: 'b', what: 'requests at a time', most: AT_A_TIME },
  { model: 'c', what: 'requests in 60 s', most: A_MINUTE },
];

/** Returns the configuration of the workers, which uses every API. `limits.depth` here would switch recursion on. */
export function configOf(url: string, store: string): { config: TrainableInput; taskQueue: string } {
  const model = (name: string) => ({ model: name, apiKeyEnv: KEY_VARIABLE, price: PRICE, timeout: '5s' });
  const openai = { provider: 'openai' as const, baseUrl: `${url}/v1` };
  const config: TrainableInput = {
    conductor: { ...openai, api: 'chat', ...model('conductor') },
    workers: [
      { id: 'a', ...openai, api: 'responses', background: true, ...model('a'), fallback: ['d'] },
      { id: 'b', provider: 'anthropic', baseUrl: url, ...model('b'), concurrency: AT_A_TIME },
      {
        id: 'c',
        provider: 'google',
        baseUrl: url,
        ...model('c'),
        rate: { requestsPerMinute: A_MINUTE },
        fallback: ['b'],
      },
      { id: 'd', ...openai, api: 'responses', ...model('d') },
    ],
    limits: { wallClock: `${WALL_CLOCK_MS}ms` },
    store,
    temporal: { heartbeat: '5s', taskQueue: TASK_QUEUE },
  };
  return { config, taskQueue: TASK_QUEUE };
}

/** Returns the environment of a worker process. */
export function workerEnv(): NodeJS.ProcessEnv {
  return { ...process.env, [KEY_VARIABLE]: 'sk-chaos-0123456789abcdef' };
}

/** Returns the questions by workflow id; every tenth one is so long that it is sent by reference. */
export function questionsOf(seed: number, count: number): ReadonlyMap<string, string> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return new Map(
    numbers.map((number) => {
      const id = `chaos-${seed}-${number}`;
      const length = number % 10 === 0 ? 1000 : 1;
      return [id, `Question ${id}: ${'what outlives a crash? '.repeat(length)}`];
    }),
  );
}

/** Whether a solve is cancelled while it runs, together with messages to it. */
export function isCancelled(id: string): boolean {
  return Number(/\d+$/.exec(id)?.[0]) % 7 === 5;
}

/** Solve and step that a request belongs to; the step is null for the Conductor's requests. */
export interface Place {
  readonly id: string;
  readonly step: number | null;
}

/** Returns the place of a request in any dialect, or null if it belongs to no solve. */
export function placeOf({ body, model }: Pick<RequestRecord, 'body' | 'model'>): Place | null {
  const id = /chaos-\d+-\d+/.exec(body)?.[0];
  if (id === undefined) return null;
  if (model === 'conductor') return { id, step: null };
  // A run without a plan asks one worker for everything, in words of its own.
  const own = [...body.matchAll(/Part (\d+): carry it out/g)].at(-1)?.[1] ?? '0';
  return { id, step: Number(own) };
}
