import { differencesOf, digestOf, solvingDigestOf } from '../../src/config/digest';
import { parseConfig } from '../../src/config/load';
import type { ConfigInput } from '../../src';

const model = { provider: 'openai', model: 'm', apiKeyEnv: 'OPENAI_API_KEY' } as const;
const [A, B] = [
  { id: 'a', ...model },
  { id: 'b', ...model },
];
const read = (changes: Partial<ConfigInput> = {}) =>
  parseConfig({ conductor: model, workers: [A, B], ...changes });
const differing = (changes: Partial<ConfigInput>): string[] =>
  differencesOf(digestOf(read()), digestOf(read(changes)));

test('configurations with the same meaning have the same digest, however they are written', () => {
  const spelledOut = { limits: { costUsd: 1, steps: 5 }, recursion: 'both' } as const;
  expect(digestOf(read(spelledOut))).toEqual(digestOf(read()));
});

test.each<[string, Partial<ConfigInput>, readonly string[]]>([
  ['a limit', { limits: { costUsd: 2 } }, ['limits.costUsd']],
  ['the Conductor', { conductor: { ...model, model: 'n' } }, ['conductor']],
  ['a further Conductor', { conductors: { big: model } }, ['conductors.big']],
  ['a worker', { workers: [A, { ...B, effort: 'low' }] }, ['workers.b']],
  ['a worker less', { workers: [A] }, ['workers.b']],
  ['their order', { workers: [B, A] }, ['workers']],
  ['the store', { store: 'sqlite:elsewhere.db' }, ['store']],
  ['a setting of training', { training: { groupSize: 8 } }, ['training.groupSize']],
])('differences are named: %s', (_, changes, names) => {
  expect(differing(changes)).toEqual(names);
});

test('task queue, namespace, heartbeat and the gateway do not affect the digest', () => {
  const place = {
    temporal: { taskQueue: 'q', namespace: 'n', heartbeat: '5s' },
    gateway: { side: 'a' },
  } as const;
  expect(differing(place)).toEqual([]);
});

test('training settings do not affect the digest for solving', () => {
  expect(solvingDigestOf(read({ training: { groupSize: 8 } }))).toEqual(digestOf(read()));
});

test('a digest reveals nothing of the configuration', () => {
  const hashes = Object.values(digestOf(read({ encryption: { keyEnv: 'MY_KEYS' } })));
  expect(hashes.every((hash) => /^[0-9a-f]{8}$/.test(hash))).toBe(true);
});
