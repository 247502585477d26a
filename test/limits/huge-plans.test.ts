import { carryOut, checkRun, fillerOf, openHugeStage, randomShape } from './huge-plans';

/** Other plans by `LIMITS_SEED=100 npx jest test/limits/huge-plans`. */
const SEED = Number(process.env.LIMITS_SEED ?? 1);
const PLANS = 12;

test.each(Array.from({ length: PLANS }, (_, index) => SEED + index))(
  'a plan as large as it may be ends its run, and every text reaches whom it is for (seed %i)',
  async (seed) => {
    const stage = await openHugeStage();
    try {
      const shape = randomShape(seed);
      checkRun(stage, shape, await stage.whileWorking(() => carryOut(stage, shape, fillerOf(seed))));
    } finally {
      await stage.close();
    }
  },
  300_000,
);
