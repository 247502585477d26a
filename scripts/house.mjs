// `npm run house`: the shape of src, in figures, and the two paths that a reader follows, file by file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const MOST_FILES = 260;
const MOST_LINES = 24_000;
const MOST_SMALL = 30;
/** A file of one importer and fewer lines may be a part of its importer. */
const SMALL_LINES = 60;

/** What a reader opens, in this order. A file that is not there is an error: the path has moved, and so must the list. */
const PATHS = {
  'question → answer': {
    most: 15,
    files: [
      'cli/commands/solve.ts',
      'client/conductor-client.ts',
      'workflows/solve.ts',
      'activities/index.ts',
      'workflows/make-plan.ts',
      'plan/prompt/conductor.ts',
      'activities/write-plan.ts',
      'activities/call-model.ts',
      'activities/models/openai-chat.ts',
      'plan/parse.ts',
      'workflows/run-plan.ts',
      'workflows/run-step.ts',
      'plan/prompt/worker.ts',
      'activities/call-worker.ts',
      'cli/follow-run.ts',
    ],
  },
  'schedule → update': {
    most: 12,
    files: [
      'training/client/schedule.ts',
      'training/workflows/nightly.ts',
      'training/workflows/night.ts',
      'training/activities/open-night.ts',
      'training/workflows/loop.ts',
      'training/workflows/group.ts',
      'training/activities/sample-plans.ts',
      'evaluation/workflows/attempts.ts',
      'training/activities/judge.ts',
      'training/activities/batch.ts',
      'training/trainer-contract.ts',
      'training/activities/close-cycle.ts',
    ],
  },
};

const sizes = new Map(filesUnder('src').map((file) => [file, linesOf(file)]));
const importers = countImporters([...sizes.keys()]);
printShape();
printSmallOnes();
for (const [name, path] of Object.entries(PATHS)) printPath(name, path);

function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function linesOf(file) {
  return readFileSync(file, 'utf8').split('\n').length - 1;
}

/** For each file, the files that import it, a type alone included. */
function countImporters(files) {
  const found = new Map(files.map((file) => [file, new Set()]));
  for (const file of files) {
    for (const [, target] of readFileSync(file, 'utf8').matchAll(
      /(?:from|import\(|resolve\()\s*'(\.[^']*)'/g,
    )) {
      const path = relative('.', join(dirname(file), target));
      for (const candidate of [`${path}.ts`, join(path, 'index.ts')]) found.get(candidate)?.add(file);
    }
  }
  return found;
}

function printShape() {
  const lines = [...sizes.values()].sort((one, other) => one - other);
  const sum = lines.reduce((total, each) => total + each, 0);
  print(`src: ${sizes.size} files (aim: at most ${MOST_FILES}), ${sum} lines (aim: at most ${MOST_LINES})`);
  print(`median ${lines[Math.floor(lines.length / 2)]} lines; the largest:`);
  const largest = [...sizes].sort((one, other) => other[1] - one[1]).slice(0, 10);
  for (const [file, size] of largest) printFile(file, size);
}

function printSmallOnes() {
  const small = [...sizes].filter(([file, size]) => importers.get(file).size === 1 && size < SMALL_LINES);
  print(
    `\n${small.length} files with one importer and under ${SMALL_LINES} lines (aim: below ${MOST_SMALL}):`,
  );
  for (const [file, size] of small) printFile(file, size, ` < ${[...importers.get(file)][0]}`);
}

function printPath(name, { most, files }) {
  const paths = files.map((file) => join('src', file));
  const missing = paths.filter((file) => !existsSync(file));
  if (missing.length > 0)
    fail(`${name}: there is no ${missing.join(', ')}. Mend the list in scripts/house.mjs.`);
  const sum = paths.reduce((total, file) => total + sizes.get(file), 0);
  print(`\n${name}: ${paths.length} files (at most ${most}), ${sum} lines`);
  for (const file of paths) printFile(file, sizes.get(file));
  if (paths.length > most) fail(`${name} is read in more than ${most} files.`);
}

function printFile(file, size, more = '') {
  print(`  ${String(size).padStart(5)}  ${file}${more}`);
}

function print(line) {
  console.log(line);
}

function fail(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}
