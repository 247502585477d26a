import { join } from 'node:path';
import ts from 'typescript';
import { parseDocument } from 'yaml';
import packageJson from '../../package.json';
import { questionSchema } from '../../src/grading';
import { exampleRowSchema } from '../../src/training/activities/examples';
import { parseTrainable } from '../../src/training/config/load';
import type { TrainableInput } from '../../src/training';
import { commandsOf } from './blocks';
import { type Fence, fencesOf, PAGES, readPage, ROOT } from './pages';
import { UNPLAYED } from './unplayed';

const FENCES = PAGES.flatMap((page) => fencesOf(readPage(page)).map((fence) => ({ page, ...fence })));
const inLanguage = (language: string): [string, Fence & { page: string }][] =>
  FENCES.filter((fence) => fence.language === language).map((fence) => [
    `${fence.page}:${fence.line}`,
    fence,
  ]);

test('every piece of TypeScript compiles, strictly', () => {
  const files = new Map(
    inLanguage('ts').map(([place, { content }]) => [join(ROOT, `${place.replace(/\W/g, '-')}.ts`), content]),
  );
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    // The declarations themselves are checked by `npm run newcomer`, as someone's own compiler would.
    skipLibCheck: true,
    module: ts.ModuleKind.Node20,
    target: ts.ScriptTarget.ES2022,
    types: ['node'],
  };
  const host = ts.createCompilerHost(options);
  host.fileExists = (name) => files.has(name) || ts.sys.fileExists(name);
  host.readFile = (name) => files.get(name) ?? ts.sys.readFile(name);
  const program = ts.createProgram([...files.keys()], options, host);
  const found = [...files.keys()].flatMap((name) => {
    const file = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  });
  expect(found.map(({ file, messageText }) => [file?.fileName, messageText])).toEqual([]);
});

/** Sections that the pages leave out around a part of a `conductor.yaml`. */
const WHOLE = {
  conductor: { provider: 'openai', model: 'gpt-6-sol' },
  workers: ['sol', 'sonnet', 'qwen'].map((id) => ({ id, provider: 'openai', model: 'gpt-6-sol' })),
};

const configurations = inLanguage('yaml').filter(([, { content }]) => !content.startsWith('# plan.yaml'));

test.each(configurations)('%s: a configuration, or a part of one, that is taken', (_, { content }) => {
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

test.each(rows)('%s: a row that training takes: %s', (_, row) => {
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

test('every command is played by a newcomer, or stands with a reason among those that are not', () => {
  expect(left.filter(({ page, line }) => !isUnplayed(page, line))).toEqual([]);
});

test.each(UNPLAYED)('$page: what is not played, since it $because, is there', ({ page, commands }) => {
  const lines = left.filter((each) => each.page === page).map(({ line }) => line);
  expect(commands.filter((start) => !lines.some((line) => line.startsWith(start)))).toEqual([]);
});

test('every script that a page runs is one of the package', () => {
  const scripts = shown.flatMap((fence) =>
    commandsOf(fence).flatMap(({ line }) => /^npm (?:run )?(start|test|[\w:]+)(?: |$)/.exec(line)?.[1] ?? []),
  );
  const known = new Set([...Object.keys(packageJson.scripts), 'install']);
  expect(scripts.filter((name) => !known.has(name))).toEqual([]);
});
