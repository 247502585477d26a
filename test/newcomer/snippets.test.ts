import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import packageJson from '../../package.json';
import { questionSchema } from '../../src/grading';
import { exampleRowSchema } from '../../src/training/client';
import { parseTrainable } from '../../src/training/config';
import type { TrainableInput } from '../../src/training';
import { commandsOf } from './blocks';
import { type Fence, fencesOf, MAPS, PAGES, readPage, ROOT } from './pages';
import { UNPLAYED } from './unplayed';

const FENCES = PAGES.flatMap((page) => fencesOf(readPage(page)).map((fence) => ({ page, ...fence })));
const inLanguage = (language: string): [string, Fence & { page: string }][] =>
  FENCES.filter((fence) => fence.language === language).map((fence) => [
    `${fence.page}:${fence.line}`,
    fence,
  ]);

test('every TypeScript snippet compiles in strict mode', async () => {
  // In the repository, so that the snippets find what they import, and not among its sources.
  const cache = join(ROOT, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'snippets-'));
  try {
    const names = inLanguage('ts').map(
      ([place, { content }]) => [place.replace(/\W/g, '-'), content] as const,
    );
    await Promise.all(names.map(([name, content]) => writeFile(join(folder, `${name}.ts`), content)));
    expect(await compile(names.map(([name]) => join(folder, `${name}.ts`)))).toBe('');
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Returns what the compiler has to say. `npm run newcomer` checks the declarations, too, as a user's compiler would. */
async function compile(files: readonly string[]): Promise<string> {
  const compiler = join(ROOT, 'node_modules', '@typescript', 'native', 'bin', 'tsc');
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck'];
  const target = ['--module', 'node20', '--target', 'es2022', '--types', 'node'];
  const args = [compiler, '--ignoreConfig', '--noEmit', ...strict, ...target, ...files];
  return promisify(execFile)(process.execPath, args, { cwd: ROOT }).then(
    ({ stdout }) => stdout,
    (error: unknown) => z.object({ stdout: z.string() }).parse(error).stdout,
  );
}

/** Sections of a `conductor.yaml` that the pages leave out when they show a part. */
const WHOLE = {
  conductor: { provider: 'openai', model: 'gpt-6-sol' },
  workers: ['sol', 'sonnet', 'qwen'].map((id) => ({ id, provider: 'openai', model: 'gpt-6-sol' })),
};

const configurations = inLanguage('yaml').filter(([, { content }]) => !content.startsWith('# plan.yaml'));

test.each(configurations)('%s: is a valid configuration, or a valid part of one', (_, { content }) => {
  const part = parseDocument(content).toJS() as Partial<TrainableInput>;
  const own = part.workers ?? [];
  const others = WHOLE.workers.filter(({ id }) => own.every((worker) => worker.id !== id));
  expect(() =>
    parseTrainable({ ...WHOLE, ...part, workers: [...own, ...others] } as TrainableInput),
  ).not.toThrow();
});

const rows = inLanguage('json').flatMap(([place, { content }]) =>
  content
    .trimEnd()
    .split('\n')
    .map((row) => [place, row] as const),
);

test.each(rows)('%s: is a valid row for training: %s', (_, row) => {
  const content: unknown = JSON.parse(row);
  const isQuestion = questionSchema.safeParse(content).success;
  expect(isQuestion || exampleRowSchema.safeParse(content).success).toBe(true);
});

const isUnplayed = (page: string, line: string): boolean =>
  UNPLAYED.some((each) => each.page === page && each.commands.some((start) => line.startsWith(start)));
const shown = FENCES.filter(({ language }) => language === 'sh' || language === 'text');
const left = shown
  .filter(({ isPlayed }) => !isPlayed)
  .flatMap((fence) => commandsOf(fence).map(({ line }) => ({ page: fence.page, line })));

test('every command is either run by the newcomer test or listed with the reason why not', () => {
  expect(left.filter(({ page, line }) => !isUnplayed(page, line))).toEqual([]);
});

test.each(UNPLAYED)('$page: still shows the commands that are not run ($because)', ({ page, commands }) => {
  const lines = left.filter((each) => each.page === page).map(({ line }) => line);
  expect(commands.filter((start) => !lines.some((line) => line.startsWith(start)))).toEqual([]);
});

test('every npm script that a page runs exists in package.json', () => {
  const ofMaps = MAPS.flatMap((page) => fencesOf(readPage(page)));
  const scripts = [...shown, ...ofMaps].flatMap((fence) =>
    commandsOf(fence).flatMap(({ line }) => /^npm (?:run )?(start|test|[\w:]+)(?: |$)/.exec(line)?.[1] ?? []),
  );
  const known = new Set([...Object.keys(packageJson.scripts), 'install']);
  expect(scripts.filter((name) => !known.has(name))).toEqual([]);
});
