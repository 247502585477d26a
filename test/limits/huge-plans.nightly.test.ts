import { CONDUCTOR_ID } from '../../src/protocol/names';
import { useEach } from '../support/use';
import { carryOut, checkRun, fillerOf, openHugeStage, randomShape, type Shape } from './huge-plans';

const stage = useEach(openHugeStage);

const ALL = Array.from({ length: 24 }, (_, index) => index);
const first: Shape = ALL.map(() => ({ worker: 'a', sees: [] }));

test.each([
  ['by a worker', 'b', 4_000_000],
  // Larger, since each child is given the pool.
  ['by a child', CONDUCTOR_ID, 10_000_000],
])(
  'twenty-four steps, each done %s, start at once, and each sees twenty-four others',
  async (_, worker, most) => {
    const shape = [...first, ...ALL.map(() => ({ worker, sees: ALL })), { worker: 'b', sees: [] }];
    const result = await stage.whileWorking(() => carryOut(stage, shape));
    checkRun(stage, shape, result);
    const { historySize = Infinity } = await stage.temporal.client.workflow.getHandle(result.id).describe();
    expect(historySize).toBeLessThan(most);
  },
  120_000,
);

/** First seed; `LIMITS_SEED=100 npx jest test/limits/huge-plans` tries other plans. */
const SEED = Number(process.env.LIMITS_SEED ?? 1);

test.each(Array.from({ length: 12 }, (_, index) => SEED + index))(
  'a plan of the largest allowed size completes its run, and every text reaches its readers (seed %i)',
  async (seed) => {
    const shape = randomShape(seed);
    checkRun(stage, shape, await stage.whileWorking(() => carryOut(stage, shape, fillerOf(seed))));
  },
  300_000,
);
