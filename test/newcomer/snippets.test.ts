import { join } from 'node:path';
import ts from 'typescript';
import { parseDocument } from 'yaml';
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

test('every TypeScript snippet compiles in strict mode', () => {
  const files = new Map(
    inLanguage('ts').map(([place, { content }]) => [join(ROOT, `${place.replace(/\W/g, '-')}.ts`), content]),
  );
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    // `npm run newcomer` checks the declarations themselves, as a user's compiler would.
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
