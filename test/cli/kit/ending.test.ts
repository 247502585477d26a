import { exitCodeOf, exitCodeOfError } from '../../../src/cli/kit/ending';
import { ConfigError, MissingKeyError } from '../../../src/config/errors';
import { AlteredPayloadError } from '../../../src/encryption/codec';
import { UnknownKeyError } from '../../../src/encryption/key-ring';
import { PlanError } from '../../../src/plan/plan-error';
import { ConductorError, UsageError } from '../../../src/errors';
import { BadQuestionError, RefusedError } from '../../../src/client';

test.each([
  ['completed', null, 0],
  ['failed', null, 1],
  ['cancelled', null, 1],
  ['completed', 'wallClock', 3],
  ['failed', 'wallClock', 3],
] as const)('a run that is %s, stopped by %s, exits %i', (status, stoppedBy, code) => {
  expect(exitCodeOf({ status, stoppedBy, error: null })).toBe(code);
});

/** An error of ours with another name: only its code counts. */
class Renamed extends ConductorError {
  override readonly name = 'SomethingElse';
  readonly code = 'Configuration';
}

/** A foreign error with the name and code of one of ours, which do not count. */
class Stranger extends Error {
  override readonly name = 'UsageError';
  readonly code = 'Usage';
}

test.each<[unknown, number]>([
  [new UsageError('?'), 2],
  [new BadQuestionError('?'), 2],
  [new ConfigError('?'), 2],
  [new MissingKeyError('?'), 2],
  [new UnknownKeyError('?'), 2],
  [new Renamed('?'), 2],
  [new RefusedError('?'), 1],
  [new AlteredPayloadError('?'), 1],
  [new PlanError('bad_shape', null, '?'), 1],
  [new Stranger('?'), 1],
  ['no error at all', 1],
])('a command that threw %s exits %i', (error, code) => {
  expect(exitCodeOfError(error)).toBe(code);
});
