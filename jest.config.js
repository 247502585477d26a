// A test file's name ends in its lane: `x.slow.test.ts` is in lane `slow`. A file that names none is in `npm test`, which
// needs Node, npm and Python 3 alone. `slow` takes long, `endurance` takes many minutes a file, and `trainer` needs the
// trainer's Python. A command names its lanes by --selectProjects, whose list the next option ends.
const { readdirSync } = require('node:fs');
const { join } = require('node:path');

const FOLDERS = ['test', 'research/test'];
const QUICK = 'quick';
const LANE = /\.(slow|endurance|trainer)\.test\.ts$/;

const swc = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

const project = {
  testEnvironment: 'node',
  // string-width and what it imports are ESM alone, which Node loads by require() and jest does not.
  transform: { '^.+\\.ts$': ['@swc/jest', swc], '/node_modules/.+\\.js$': ['@swc/jest', swc] },
  transformIgnorePatterns: [
    '/node_modules/(?!(string-width|hyparquet|hyparquet-compressors|fzstd|hysnappy|strip-ansi|ansi-regex|get-east-asian-width|emoji-regex)/)',
  ],
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
    testPathIgnorePatterns: [LANE.source],
  },
  // The workflows once more, with a worker that forgets each run after each task, and replays it for the next.
  {
    ...project,
    displayName: 'uncached',
    testMatch: ['<rootDir>/test/workflows/*.test.ts'],
    testPathIgnorePatterns: [LANE.source],
    globals: { maxCachedWorkflows: 0 },
  },
  lane('slow'),
  lane('endurance'),
  lane('trainer'),
];

/** @type {import('jest').Config} */
module.exports = {
  // Most tests wait for a server more than they compute: more at a time than two cores could compute.
  maxWorkers: 3,
  testTimeout: 60_000,
  projects: askedLanes(process.argv.slice(2)),
};

/** A path that only other lanes have chooses these: `npm test -- test/web/page`. */
function askedLanes(words) {
  // jest itself takes the named ones.
  if (words.includes('--selectProjects')) return lanes;
  const files = FOLDERS.flatMap(testFilesUnder);
  const names = new Set(words.flatMap((word) => lanesOf(word, files)));
  return lanes.filter(({ displayName }) => (names.size === 0 ? [QUICK] : [...names]).includes(displayName));
}

function testFilesUnder(folder) {
  const path = join(__dirname, folder);
  return readdirSync(path, { recursive: true })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(path, file));
}

function lanesOf(word, files) {
  if (word.startsWith('-') || !/[/\\]|\.ts$/.test(word)) return [];
  // jest takes regular expressions: an editor writes a point as `\.`.
  const path = word.replaceAll('\\.', '.').replace(/^\.\//, '');
  const found = files.filter((file) => file.includes(path)).map((file) => LANE.exec(file)?.[1] ?? QUICK);
  return found.includes(QUICK) ? [QUICK] : found;
}
