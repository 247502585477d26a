import { exitCodeOf } from '../../src/cli/exit-code';

test.each([
  ['completed', null, 0],
  ['failed', null, 1],
  ['cancelled', null, 1],
  ['completed', 'wallClock', 3],
  ['failed', 'wallClock', 3],
] as const)('a run that is %s, stopped by %s, exits %i', (status, stoppedBy, code) => {
  expect(exitCodeOf({ status, stoppedBy })).toBe(code);
});
