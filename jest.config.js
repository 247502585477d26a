// `npm test`: what needs Node, npm and Python 3 alone. What takes long beside it is in jest.slow.config.js, what takes very
// long in jest.endurance.config.js, what needs the trainer's Python in jest.training.config.js.
const long = require('./jest.long.json');

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

/** @type {import('jest').Config} */
module.exports = {
  // Most tests wait for a server more than they compute: more at a time than two cores could compute.
  maxWorkers: 3,
  testTimeout: 60_000,
  projects: [
    {
      ...project,
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: [
        '<rootDir>/test/trainer/',
        '\\.endurance\\.test\\.ts$',
        ...long.map((path) => `<rootDir>/${path}`),
      ],
    },
  ],
};
