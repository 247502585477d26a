import { CONDUCTOR_ID } from '../../src/protocol/names';
import type { Stage } from '../support/stage';
import { carryOut, checkRun, openHugeStage, type Shape } from './huge-plans';

let stage: Stage;
beforeEach(async () => {
  stage = await openHugeStage();
});
afterEach(async () => {
  await stage.close();
});

const ALL = Array.from({ length: 24 }, (_, index) => index);
const first: Shape = ALL.map(() => ({ worker: 'a', sees: [] }));

test.each([
  ['by a worker', 'b', 4_000_000],
  // Each is given the pool.
  ['by a child', CONDUCTOR_ID, 10_000_000],
])(
  'twenty-four steps, each done %s, begin at once and see twenty-four others',
  async (_, worker, most) => {
    const shape = [...first, ...ALL.map(() => ({ worker, sees: ALL })), { worker: 'b', sees: [] }];
    const result = await stage.whileWorking(() => carryOut(stage, shape));
    checkRun(stage, shape, result);
    const { historySize = Infinity } = await stage.temporal.client.workflow.getHandle(result.id).describe();
    expect(historySize).toBeLessThan(most);
  },
  120_000,
);
