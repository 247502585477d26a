import { cycleMetricsSchema } from '../../src/training/cycle-metrics-schema';
import { madeUpCycles } from '../cli/train/plot/made-up-cycles';

it('reads the line of a cycle that taught nothing, and so made no weights', () => {
  const [line] = madeUpCycles(1, { weightsSha256: null, update: null });
  expect(cycleMetricsSchema.parse(JSON.parse(JSON.stringify(line)))).toEqual(line);
});
