import { type Versioning, workerVersion } from '../../../src/cli/kit/worker-version';

const BOTH = { TEMPORAL_DEPLOYMENT_NAME: 'team/conductor', TEMPORAL_WORKER_BUILD_ID: 'registry/image:1.2' };

test('both variables give every worker a version, whose runs stay on it unless asked otherwise', () => {
  const version = { deploymentName: 'team/conductor', buildId: 'registry/image:1.2' };
  const pinned = { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' };
  expect(workerVersion(BOTH)).toEqual(pinned);
  expect(workerVersion(BOTH, 'pinned')).toEqual(pinned);
  expect(workerVersion(BOTH, 'auto-upgrade')).toEqual({
    ...pinned,
    defaultVersioningBehavior: 'AUTO_UPGRADE',
  });
});

test('without both there is no version; empty ones are as good as none', () => {
  expect(workerVersion({})).toBeNull();
  expect(workerVersion({ TEMPORAL_DEPLOYMENT_NAME: '', TEMPORAL_WORKER_BUILD_ID: '' })).toBeNull();
});

test.each<[string, NodeJS.ProcessEnv, Versioning | undefined, string]>([
  [
    'the name alone',
    { TEMPORAL_DEPLOYMENT_NAME: 'team' },
    undefined,
    'TEMPORAL_DEPLOYMENT_NAME is set to "team", and TEMPORAL_WORKER_BUILD_ID is not: set both, or neither',
  ],
  [
    'the build alone',
    { ...BOTH, TEMPORAL_DEPLOYMENT_NAME: '' },
    undefined,
    'TEMPORAL_WORKER_BUILD_ID is set to "registry/image:1.2", and TEMPORAL_DEPLOYMENT_NAME is not: set both, or neither',
  ],
  [
    'a behavior without a version',
    {},
    'auto-upgrade',
    '--versioning auto-upgrade is for a worker with a version',
  ],
  [
    'a name with a dot',
    { ...BOTH, TEMPORAL_DEPLOYMENT_NAME: 'a.b' },
    undefined,
    'TEMPORAL_DEPLOYMENT_NAME is "a.b"',
  ],
  ['a name with a colon', { ...BOTH, TEMPORAL_DEPLOYMENT_NAME: 'a:b' }, undefined, 'without "." and ":"'],
  [
    'a name of the server',
    { ...BOTH, TEMPORAL_WORKER_BUILD_ID: '__b' },
    undefined,
    'not beginning with "__"',
  ],
  [
    'a long name',
    { ...BOTH, TEMPORAL_WORKER_BUILD_ID: 'b'.repeat(400_000) },
    undefined,
    `is "${'b'.repeat(100)}"`,
  ],
])('refuses %s', (_, env, versioning, words) => {
  expect(() => workerVersion(env, versioning)).toThrow(words);
});
