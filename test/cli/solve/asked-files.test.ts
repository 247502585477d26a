import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AskedOptions, readAskedFiles } from '../../../src/cli/solve/asked-files';
import { freshFolder } from '../../local/fresh-folder';

let folder: string;
beforeAll(async () => (folder = await freshFolder()));

/** Reads a question, and what belongs to it from files with these contents. */
async function read(
  question: string | undefined,
  contents: AskedOptions = {},
): ReturnType<typeof readAskedFiles> {
  const options: Record<string, string> = {};
  for (const [name, content] of Object.entries(contents) as [string, string][]) {
    options[name] = join(folder, `${name}.json`);
    await writeFile(options[name], content);
  }
  return readAskedFiles(question, options);
}

const TURNS = [{ role: 'user', content: 'Why?' }];

test('reads a question, a conversation in its place, or a question with a schema', async () => {
  expect(await read('Why?')).toEqual({ question: 'Why?' });
  const messages = JSON.stringify(TURNS);
  expect(await read(undefined, { messages })).toEqual({ messages: TURNS });
  const answerSchema = { type: 'integer' };
  expect(await read('Why?', { schema: JSON.stringify(answerSchema) })).toEqual({
    question: 'Why?',
    answerSchema,
  });
});

test.each<[string, string | undefined, AskedOptions, RegExp]>([
  ['no JSON', undefined, { messages: '- role: user' }, /messages\.json is not valid JSON: /],
  ['no list', undefined, { messages: '{}' }, /messages\.json cannot be used: .*expected a list/],
  [
    'a turn of nobody',
    undefined,
    { messages: '[{"role":"pirate","content":"Arr"}]' },
    /messages\.json cannot be used: \[0\]\.role is "pirate": expected/,
  ],
  ['no schema', 'Why?', { schema: '[]' }, /schema\.json cannot be used: /],
  [
    'a schema without end',
    'Why?',
    { schema: '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000) },
    /schema\.json cannot be used: .*nested at most 64 deep/,
  ],
  ['a file without end', 'Why?', { schema: ' '.repeat(2 ** 20 + 1) }, /schema\.json has over 1048576 bytes/],
])('%s is refused with the file and the reason', async (_, question, contents, why) => {
  await expect(read(question, contents)).rejects.toThrow(why);
});

test('a missing file is named', async () => {
  await expect(readAskedFiles('Why?', { schema: join(folder, 'none.json') })).rejects.toThrow(
    /none\.json does not exist/,
  );
});
