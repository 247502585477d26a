import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseTrainable, shippedProfiles } from '../../src/training/config';
import type { TrainableInput } from '../../src/training';

const ROOT = join(__dirname, '..', '..');

const written = JSON.parse(readFileSync(join(ROOT, 'lib', 'conductor.schema.json'), 'utf8')) as object;
const schema = z.fromJSONSchema(written as Parameters<typeof z.fromJSONSchema>[0]);
const isKnown = (content: unknown): boolean => schema.safeParse(content).success;

const SMALLEST = {
  conductor: { provider: 'local', model: 'm' },
  workers: [{ id: 'a', provider: 'local', model: 'm' }],
} as const;

const page = readFileSync(join(ROOT, 'docs', 'configuration.md'), 'utf8');
const [, documented = ''] = /```yaml\n(conductor: # [^]*?)```/.exec(page) ?? [];
const shipped = [
  'docker/conductor.yaml',
  'docker/stand-ins/conductor.yaml',
  'examples/esm/conductor.yaml',
].map((file) => readFileSync(join(ROOT, file), 'utf8'));

test.each([documented, ...shipped])(
  'a configuration that commands accept is valid in editors: %.40s',
  (text) => {
    const content = parse(text) as TrainableInput;
    expect(() => parseTrainable(content)).not.toThrow();
    expect(schema.safeParse(content).error?.issues ?? []).toEqual([]);
  },
);

test.each(shippedProfiles().map(({ name }) => name))(
  'the profile %s completes a partial training section',
  (profile) => {
    expect(isKnown({ ...SMALLEST, training: { profile, reward: { correct: 1 } } })).toBe(true);
  },
);

test.each<[string, object]>([
  ['an unknown key', { ...SMALLEST, limit: {} }],
  ['a limit out of range', { ...SMALLEST, limits: { steps: 51 } }],
  ['an unknown provider', { ...SMALLEST, conductor: { provider: 'opneai', model: 'm' } }],
  ['an unknown key of training', { ...SMALLEST, training: { groupsize: 8 } }],
  ['a word for a price', { ...SMALLEST, conductor: { ...SMALLEST.conductor, price: 'free' } }],
])('%s is marked as an error', (_, content) => {
  expect(isKnown(content)).toBe(false);
});

test('a price of 0 is valid', () => {
  expect(isKnown({ ...SMALLEST, conductor: { ...SMALLEST.conductor, price: 0 } })).toBe(true);
});
