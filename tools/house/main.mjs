// `npm run house`: prints size figures of src, and fails where a reader would lose the way: a folder with too many files, a
// file with too many imports, a core too long for an afternoon, a name that stands twice, a circle.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { findPythonCircles } from './circles.mjs';
import { CORE, MOST_OF_THE_CORE } from './core.mjs';
import { findNamesTwice } from './names.mjs';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));

const MOST_FILES_OF_A_FOLDER = 20;
/** Files of src that one file may load. */
const MOST_IMPORTS = 25;

/** Parts of src. A file belongs to the first one that matches. */
const FLOORS = [
  ['testing', /^testing\//],
  ['the command line', /^cli\//],
  ['the gateway', /^gateway\//],
  ['training', /^training\//],
  ['evaluation and grading', /^(evaluation|grading)\//],
  ['core', /./],
];

/** Load paths: entry files, from which others are loaded, directly or indirectly. */
const WAYS = [
  ['what a worker with ConductorPlugin loads', ['plugin.ts']],
  [
    'from a question to its answer',
    ['client/conductor-client.ts', 'workflows/solve.ts', 'activities/index.ts'],
  ],
  [
    'from a schedule to its update, beside these',
    ['training/client/schedule.ts', 'training/workflows/nightly.ts', 'training/activities/index.ts'],
  ],
];

const sources = new Map(filesUnder('src').map((file) => [file, readFileSync(join('src', file), 'utf8')]));
const sizes = new Map([...sources].map(([file, source]) => [file, source.split('\n').length - 1]));

say('files of src', sizes.size);
say('lines of src', sum(sizes.values()));
for (const [name, lines] of linesByFloor()) say(`lines of ${name}`, lines);
let passed = new Set();
for (const [name, doors] of WAYS) {
  const loaded = loadedFrom(doors);
  say(`files ${name}`, [...loaded].filter((file) => !passed.has(file)).length);
  // A night consists of solves, so only the files that it adds are counted.
  if (doors.length > 1) passed = loaded;
}

const core = { files: CORE.length, lines: sum(CORE.map((file) => sizes.get(file) ?? NaN)) };
say(`files of the core (at most ${MOST_OF_THE_CORE.files})`, core.files);
say(`lines of the core (at most ${MOST_OF_THE_CORE.lines})`, core.lines);
const [folder, files] = largestOf(folderSizes());
say(`files of src/${folder}, the largest folder (at most ${MOST_FILES_OF_A_FOLDER})`, files);
const [busiest, imports] = largestOf(
  new Map([...sources.keys()].map((file) => [file, importsOf(file).length])),
);
say(`imports of src/${busiest}, the busiest file (at most ${MOST_IMPORTS})`, imports);

const problems = [
  ...CORE.filter((file) => !sizes.has(file)).map(
    (file) => `src/${file} does not exist: update tools/house/core.mjs.`,
  ),
  core.files > MOST_OF_THE_CORE.files && 'The core has too many files: see tools/house/core.mjs.',
  core.lines > MOST_OF_THE_CORE.lines && 'The core has too many lines: see tools/house/core.mjs.',
  files > MOST_FILES_OF_A_FOLDER && `src/${folder} has ${files} files: divide it.`,
  imports > MOST_IMPORTS && `src/${busiest} loads ${imports} files of src: divide it.`,
  ...findNamesTwice(sources),
  ...findPythonCircles(),
].filter(Boolean);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

function linesByFloor() {
  const sums = new Map(FLOORS.map(([name]) => [name, 0]));
  for (const [file, size] of sizes) {
    const [name] = FLOORS.find(([, belongs]) => belongs.test(file));
    sums.set(name, sums.get(name) + size);
  }
  return sums;
}

function folderSizes() {
  const counts = new Map();
  for (const file of sizes.keys()) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  return counts;
}

function largestOf(counts) {
  return [...counts].sort(([, one], [, other]) => other - one)[0];
}

/** Returns all files that the doors load; type-only imports do not count. */
function loadedFrom(doors) {
  const loaded = new Set();
  const waiting = [...doors];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (loaded.has(file)) continue;
    if (!sources.has(file))
      throw new Error(`src/${file} does not exist: update WAYS in tools/house/main.mjs`);
    loaded.add(file);
    waiting.push(...importsOf(file));
  }
  return loaded;
}

function importsOf(file) {
  const { statements } = ts.createSourceFile(file, sources.get(file), ts.ScriptTarget.Latest);
  return statements.filter(isLoading).flatMap(({ moduleSpecifier }) => {
    const path = join(dirname(file), moduleSpecifier.text);
    return [`${path}.ts`, join(path, 'index.ts')].filter((each) => sources.has(each));
  });
}

function isLoading(statement) {
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return false;
  if (statement.moduleSpecifier === undefined) return false;
  const { importClause = statement } = statement;
  const names = (importClause.namedBindings ?? importClause.exportClause)?.elements;
  const areTypes = names !== undefined && names.length > 0 && names.every(({ isTypeOnly }) => isTypeOnly);
  return !importClause.isTypeOnly && !areTypes;
}

function sum(numbers) {
  return [...numbers].reduce((total, each) => total + each, 0);
}

function say(what, value) {
  console.log(`${String(value).padStart(7)} ${what}`);
}
