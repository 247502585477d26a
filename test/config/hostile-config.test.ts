import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { ConfigError } from '../../src/config/errors';
import { parseConfig, readGivenConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { freshFolder } from '../local/fresh-folder';
import { hostileText } from '../support/hostile-text';
import { tries } from '../support/thorough';

/** Limit of about two pages: short enough to read, and to fit wherever a message of ours is sent. */
const LONGEST_MESSAGE = 8 * 1024;

let file: string;
beforeAll(async () => {
  file = join(await freshFolder(), 'conductor.yaml');
});

function messageFor(text: string): string {
  writeFileSync(file, text);
  try {
    readGivenConfig(file);
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replaceAll(file, 'conductor.yaml');
    throw error;
  }
}

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');
const MODELS = 'conductor: { provider: local, model: m }\nworkers:\n';
const worker = (id: string, more = ''): string => `- { id: ${id}, provider: local, model: m${more} }`;

const PIECES = [
  ...'[ {a: - ? : &a *a, ! !!str # % | !< " \\ 9 s3:// ${ { } ]'.split(' ').map((mark) => `${mark} `),
  ...['---\n', '>\n', '\0', '\ud800', '\t', '\n', ' ', 'a: 1\n', '<<: *a, ', '__proto__: ', 'conductor: '],
  ...['workers:\n', '- { id: a, provider: local, model: m }\n', 'fallback: [x]', 'k: v, '],
];

test('a file that is nested too deeply for the parser is reported as such', () => {
  expect(messageFor(' <<: *a, [<<: *a, ['.repeat(3_000))).toMatch(/cannot be read|not valid YAML/);
});

test('any text is a configuration or a readable ConfigError', () => {
  fc.assert(
    fc.property(hostileText(PIECES), fc.constantFrom('', MODELS), (text, before) => {
      expect(messageFor(before + text).length).toBeLessThan(LONGEST_MESSAGE);
    }),
    { numRuns: tries(150) },
  );
});

test.each([
  ['settings that are none', lines(3000, (index) => `k${index}: 1`)],
  ['workers with bad fallbacks', MODELS + lines(900, (index) => worker(`w${index}`, ', fallback: [x, y]'))],
  ['workers with the same id', MODELS + lines(1200, () => worker('w'))],
  ['workers with settings that are none', MODELS + lines(1000, (index) => worker(`w${index}`, ', a: 1'))],
])('%s: the first are named, the rest counted', (_, text) => {
  const message = messageFor(text);
  expect(message).toMatch(/and [\d,]+ more/);
  expect(message.length).toBeLessThan(LONGEST_MESSAGE);
});

test('an oversized file is refused before it is read', () => {
  expect(messageFor(`${MODELS}${worker('a')}\n${'#'.repeat(70_000)}`)).toBe(
    'conductor.yaml has 70,089 characters, and at most 65,536 are read: is this the right file?',
  );
});

test.each([
  ['behind the mark of a block', 'apiKeyEnv: |sk-Secret'],
  ['as an alias', 'apiKeyEnv: *sk-Secret'],
  ['as an escape', 'apiKeyEnv: "\\Secret"'],
  ['as a tag', 'apiKeyEnv: !<sk-Secret'],
  ['as a directive', '%sk-Secret\n--- a'],
])('a key %s is not repeated', (_, text) => {
  const message = messageFor(text);
  expect(message).not.toBe('');
  expect(message).not.toContain('Secret');
});

test('a run that names countless unknown workers is refused in one sentence', () => {
  const config = parseConfig({
    conductor: { provider: 'local', model: 'm' },
    workers: [{ id: 'a', provider: 'local', model: 'm' }],
  });
  const strangers = Array.from({ length: 20_000 }, (_, index) => `stranger-${index}-${'x'.repeat(90)}`);
  const refusal = (): unknown => resolveRun(config, { pool: { deny: strangers } });
  expect(refusal).toThrow(/^the pool has no worker "stranger-0-x+…", .* and 19,990 more: choose from a$/);
});
