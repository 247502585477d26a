import { cycleMetricsSchema } from '../../src/training/records';
import { madeUpCycles } from './cli/plot/made-up-cycles';

it('reads the line of a cycle that taught nothing, and so made no weights', () => {
  const [line] = madeUpCycles(1, { weightsSha256: null, update: null });
  expect(cycleMetricsSchema.parse(JSON.parse(JSON.stringify(line)))).toEqual(line);
});
