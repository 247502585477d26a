// A test file's name ends in its lane: `x.slow.test.ts` is in lane `slow`. A file that names none is in `npm test`, which
// needs Node, npm and Python 3 alone. `slow` takes long, and `trainer` needs the trainer's Python: with `quick`, a change
// must pass them. The others run at night: `nightly` repeats what these show over more stores, programs and states,
// `endurance` takes many minutes a file, and `learning` trains for minutes. A command names its lanes by
// --selectProjects, whose list the next option ends.
const { readdirSync } = require('node:fs');
const { join } = require('node:path');

const FOLDERS = ['test', 'research/test'];
const QUICK = 'quick';
/** Files that replace modules, look at how these are loaded, share what a module keeps, or mostly wait for commands. */
const ALONE =
  /^test.(docs|durability|grading|index|local|network|package|plugin|replay|store)\b|^test.cli.[^/]+$|sdk-loading|strangers/;
/** Files of a lane that run in groups: for most, it takes longer to load what they need than to run their tests. */
const TOGETHER = {
  [QUICK]: (file) => laneOf(file) === QUICK && !ALONE.test(file),
  nightly: (file) => laneOf(file) === 'nightly' && file.startsWith('research/'),
};
const FILES_OF_A_GROUP = 8;
const RANDOM = [
  'client/trace-reader',
  'config/hostile-config',
  'evaluation/compare-pairs',
  'evaluation/data/hostile-files',
  'evaluation/killed.slow',
  'evaluation/simulated-statistics.nightly',
  'evaluation/skills.nightly',
  'grading/hostile',
  'plan/hostile-replies',
  'training/workflows/many-mangled-inputs.nightly',
];
const LANE = /\.(slow|trainer|nightly|endurance|learning)\.test\.ts$/;

const swc = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

const INSTALLED = '/node_modules/';
const project = {
  testEnvironment: '<rootDir>/test/support/environment.ts',
  testPathIgnorePatterns: [INSTALLED],
  // string-width and what it imports are ESM alone, which Node loads by require() and jest does not.
  transform: { '^.+\\.ts$': ['@swc/jest', swc], '/node_modules/.+\\.js$': ['@swc/jest', swc] },
  transformIgnorePatterns: [
    '/node_modules/(?!(string-width|hyparquet|hyparquet-compressors|fzstd|hysnappy|strip-ansi|ansi-regex|get-east-asian-width|emoji-regex)/)',
  ],
  // Node's import() demands the name of the built file.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

const lane = (name) => ({
  ...project,
  displayName: name,
  testMatch: FOLDERS.map((folder) => `<rootDir>/${folder}/**/*.${name}.test.ts`),
});

const lanes = [
  {
    ...project,
    displayName: QUICK,
    testMatch: FOLDERS.map((folder) => `<rootDir>/${folder}/**/*.test.ts`),
    testPathIgnorePatterns: [INSTALLED, LANE.source],
  },
  // Random inputs once more, longer and more of them, by a command of its own: see test/support/thorough.ts.
  {
    ...project,
    displayName: 'thorough',
    testMatch: RANDOM.map((file) => `<rootDir>/test/${file}.test.ts`),
    globals: { isThorough: true },
  },
  lane('slow'),
  lane('trainer'),
  lane('nightly'),
  lane('endurance'),
  lane('learning'),
];

/** @type {import('jest').Config} */
module.exports = {
  // Most tests wait for a server more than they compute: more at a time than two cores could compute.
  maxWorkers: 3,
  testTimeout: 300_000,
  projects: askedLanes(process.argv.slice(2)),
};

/** A path takes each file by itself: `npm test -- test/web/page` runs it in its own lane. Else files run in groups. */
function askedLanes(words) {
  const names = new Set(words.flatMap(lanesOf));
  // jest itself takes the named ones.
  if (words.includes('--selectProjects')) return names.size === 0 ? lanes.map(inGroups) : lanes;
  if (names.size > 0) return lanes.filter(({ displayName }) => names.has(displayName));
  return [inGroups(lanes[0])];
}

function lanesOf(word) {
  if (word.startsWith('-') || !/[/\\]|\.ts$/.test(word)) return [];
  // jest takes regular expressions: an editor writes a point as `\.`.
  const path = word.replaceAll('\\.', '.').replace(/^\.\//, '');
  const found = testFiles()
    .filter((file) => join(__dirname, file).includes(path))
    .map(laneOf);
  return found.length === 0 || found.includes(QUICK) ? [QUICK] : found;
}

/** Returns a lane of which jest sees the first file of each group, and test/support/together.ts runs the others with it. */
function inGroups(lane) {
  const groups = groupsOf(testFiles().filter(TOGETHER[lane.displayName] ?? (() => false)));
  const others = groups.flatMap(([, ...files]) => files);
  return {
    ...lane,
    setupFilesAfterEnv: ['<rootDir>/test/support/together.ts'],
    globals: { ...lane.globals, groups },
    testPathIgnorePatterns: [...lane.testPathIgnorePatterns, ...others.map((file) => `/${file}$`)],
  };
}

/** Returns the files of each folder in groups. */
function groupsOf(files) {
  const groups = new Map();
  for (const file of files) {
    const [, folder] = file.split('/');
    const group = groups.get(folder)?.at(-1);
    if (group === undefined) groups.set(folder, [[file]]);
    else if (group.length < FILES_OF_A_GROUP) group.push(file);
    else groups.get(folder).push([file]);
  }
  return [...groups.values()].flat();
}

function testFiles() {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(__dirname, folder), { recursive: true })
      .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
      .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
      .sort(),
  );
}

function laneOf(file) {
  return LANE.exec(file)?.[1] ?? QUICK;
}
