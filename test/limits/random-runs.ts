import { type LimitsChange, renderPlan, type Step } from '../../src';
import type { LimitsInput } from '../../src/protocol/input';
import type { Answer, AnswerFunction, ModelBehaviour, SimulatedRequest, Simulation } from '../../src/testing';
import { draw } from '../../src/testing/simulated-model';
import { step } from '../support/stage';

/** A run to start, and the changes sent to it. */
export interface RandomRun {
  /** Part of its question and of each subtask, so that every request names its run. */
  readonly tag: string;
  readonly limits: LimitsInput;
  /** Sent while it runs. */
  readonly change: LimitsChange | null;
  readonly maxDepth: number | null;
}

export const WORKERS = ['a', 'b', 'c', 'd'];
export const PRICE = { input: 2, output: 10 };

/** Draws runs that depend on the seed alone. */
export function randomRuns(seed: number, count: number): RandomRun[] {
  return Array.from({ length: count }, (_, index) => {
    const tag = `[run ${index}]`;
    const pick = (what: string, from: number, to: number): number => between(from, to, seed, tag, what);
    const sometimes = (what: string): boolean => draw(seed, tag, what, 'at all') < 0.5;
    return {
      tag,
      limits: {
        depth: pick('depth', 0, 2),
        calls: pick('calls', 1, 25),
        tokens: sometimes('tokens') ? pick('tokens', 2_000, 60_000) : null,
        costUsd: sometimes('cost') ? pick('cost', 10, 400) / 1000 : null,
      },
      change: sometimes('change')
        ? { calls: pick('new calls', 1, 25), costUsd: pick('new cost', 10, 400) / 1000 }
        : null,
      maxDepth: pick('new depth', 0, 2),
    };
  });
}

/** Returns the tag of the run that a request belongs to. */
export function tagIn(text: string): string | undefined {
  return /\[run \d+\]/.exec(text)?.[0];
}

/**
 * Models with random faults that depend on the seed alone. Excludes faults in which a provider bills more tokens than
 * it was allowed to write: no reservation can cover those.
 */
export function randomSimulation(seed: number): Simulation {
  const worker: ModelBehaviour = { price: PRICE, schedule: faults([...FAULTS, ...FAULTS_OF_WORKERS]) };
  const conductor: ModelBehaviour = { price: PRICE, schedule: faults(FAULTS), answer: randomPlan(seed) };
  return { seed, models: { conductor, ...Object.fromEntries(WORKERS.map((name) => [name, worker])) } };
}

const FAULTY = 0.25;
const AT_ONCE = { ms: 1, as: 'milliseconds' } as const;
const FAULTS: readonly Answer[] = [
  { fault: 'rate-limited', retryAfter: AT_ONCE },
  { fault: 'overloaded', retryAfter: AT_ONCE },
  { fault: 'gateway-timeout' },
  { fault: 'reset' },
  { fault: 'cut-mid-body' },
  { fault: 'truncated' },
  { fault: 'html' },
  { fault: 'html-bad-gateway' },
  { fault: 'empty' },
  { fault: 'refusal' },
  { fault: 'usage-missing' },
  { fault: 'usage-zero' },
];
const FAULTS_OF_WORKERS: readonly Answer[] = [{ fault: 'length' }, { fault: 'length-without-text' }];

function faults(answers: readonly Answer[]): NonNullable<ModelBehaviour['schedule']> {
  return answers.map((answer) => ({ share: FAULTY / answers.length, answer }));
}

/** Plans of one to five steps, with the Conductor as a worker if that is allowed; half of the reviews accept. */
function randomPlan(seed: number): AnswerFunction {
  return ({ text }: SimulatedRequest): string => {
    const isReview = text.includes('three empty lists');
    if (isReview && draw(seed, text, 'accepts') < 0.5) return renderPlan({ steps: [] }, WORKERS);
    const workers = text.includes('yourself, called again') ? [...WORKERS, 'conductor'] : WORKERS;
    const tag = tagIn(text) ?? '';
    const steps = Array.from({ length: between(1, 5, seed, text, 'steps') }, (_, index): Step => {
      const worker = workers[between(0, workers.length - 1, seed, text, 'worker', index)] ?? 'a';
      const sees = Array.from({ length: index }, (_each, earlier) => earlier);
      const seen = sees.filter((earlier) => draw(seed, text, 'sees', index, earlier) < 0.4);
      return step(worker, `${tag} Part ${index}.`, seen);
    });
    return renderPlan({ steps }, workers);
  };
}

function between(from: number, to: number, ...key: readonly (string | number)[]): number {
  return from + Math.floor(draw(...key) * (to - from + 1));
}
