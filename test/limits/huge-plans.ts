import { renderPlan, type SolveResult, type Step } from '../../src';
import { MAX_SUBTASK_BYTES } from '../../src/plan/plan';
import { CONDUCTOR_ID } from '../../src/protocol/names';
import { INLINE_BYTES } from '../../src/protocol/text';
import type { SimulatedRequest } from '../../src/testing';
import { draw } from '../../src/testing/simulated-model';
import { type Stage, openStage, step } from '../support/stage';

/** Worker and visible steps of each step; `carryOut` gives every text its maximum length. */
export type Shape = readonly Pick<Step, 'worker' | 'sees'>[];

const MOST_STEPS = 50;
const ACCEPT = 'model_id = []\nsubtasks = []\naccess_list = []';

/** Characters that take one, two, six and three bytes in JSON. */
const FILLERS = ['x', '"', '\u0001', '日'];

function fill(beginning: string, filler: string, bytes: number): string {
  const each = Buffer.byteLength(JSON.stringify(filler)) - 2;
  return beginning + filler.repeat(Math.floor((bytes - beginning.length) / each));
}

/** Draws a shape of 40 to 50 steps from a seed: layers whose steps see most steps of earlier layers. */
export function randomShape(seed: number): Shape {
  const pick = (most: number, ...key: readonly (string | number)[]): number =>
    Math.floor(draw(seed, ...key) * (most + 1));
  const wide = 1 + pick(24, 'width');
  const density = draw(seed, 'density') < 0.5 ? 1 : 0.7;
  return Array.from({ length: MOST_STEPS - pick(10, 'fewer') }, (_, index) => {
    const before = Math.floor(index / wide) * wide;
    const sees = Array.from({ length: before }, (__, earlier) => earlier);
    const isOwn = before > 0 && draw(seed, index, 'self') < 0.3;
    return {
      worker: isOwn ? CONDUCTOR_ID : draw(seed, index, 'who') < 0.5 ? 'a' : 'b',
      sees: sees.filter((earlier) => draw(seed, index, earlier) < density),
    };
  });
}

const BIG_POOL = Array.from({ length: 50 }, (_, index) => `spare-${index}`);

/** Opens a stage with a large pool, which every child is given. */
export function openHugeStage(): Promise<Stage> {
  return openStage({
    workers: ['a', 'b', ...BIG_POOL],
    configure: ({ workers, ...config }) => {
      const withInstructions = workers.map((worker) =>
        worker.id.startsWith('spare') ? { ...worker, instructions: 'Be brief. '.repeat(399) } : worker,
      ) as typeof workers;
      return { ...config, workers: withInstructions, recursion: 'both' };
    },
  });
}

/** Runs a plan of this shape, with a child for each step of the Conductor, and reviews the answer. */
export async function carryOut(stage: Stage, shape: Shape, filler = 'x'): Promise<SolveResult> {
  const steps = shape.map(({ worker, sees }, index) =>
    step(worker, fill(`[subtask ${index}]`, filler, MAX_SUBTASK_BYTES), sees),
  );
  const answer = ({ text }: SimulatedRequest): string =>
    fill(`[answer ${stepIn(text)}]`, filler, INLINE_BYTES);
  stage.plan(steps);
  for (const worker of ['a', 'b']) stage.providers.answer(worker, answer);
  stage.providers.answer(CONDUCTOR_ID, ({ text }) =>
    text.includes('three empty lists')
      ? ACCEPT
      : renderPlan({ steps: [step('a', 'Answer it.')] }, ['a', 'b', CONDUCTOR_ID]),
  );
  const limits = { steps: MOST_STEPS, calls: 200, depth: 1, costUsd: null };
  return stage.client.solve({ question: 'Does it end?', limits });
}

/** Checks that every step was answered, and that its whole answer reached each step that may see it. */
export function checkRun(stage: Stage, shape: Shape, result: SolveResult): void {
  expect(result).toMatchObject({ status: 'completed', error: null, degraded: false });
  const own = shape.filter(({ worker }) => worker === CONDUCTOR_ID).length;
  // The plan, one call per step, another one for the plan of each child, and the review.
  expect(result.usage.calls).toBe(shape.length + own + 2);
  expect(seenIn(stage)).toEqual(shape.map(({ sees }) => sees));
}

/** Returns, for each step, the steps whose whole answers its last request holds. */
function seenIn({ providers }: Stage): number[][] {
  const seen: number[][] = [];
  for (const { model, body } of providers.log) {
    if (model === CONDUCTOR_ID) continue;
    const whole = /\[answer (\d+)\]((?:\\.|[^\\<])*)/g;
    const answers = [...body.matchAll(whole)].filter(([, , rest = '']) => rest.length > 1000);
    seen[stepIn(body)] = answers.map(([, answer]) => Number(answer));
  }
  return seen;
}

/** Returns the step that a request is about: a child's workers see its subtask first, as the question, others last. */
function stepIn(text: string): number {
  const steps = [...text.matchAll(/\[subtask (\d+)\]/g)].map(([, index]) => Number(index));
  return (text.includes('Answer it.') ? steps[0] : steps.at(-1)) ?? -1;
}

export function fillerOf(seed: number): string {
  return FILLERS[seed % FILLERS.length] ?? 'x';
}
