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
    '/node_modules/(?!(string-width|strip-ansi|ansi-regex|get-east-asian-width|emoji-regex)/)',
  ],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

/** @type {import('jest').Config} */
module.exports = {
  // Most tests wait for a server more than they compute: two at a time even where there are two cores.
  maxWorkers: 2,
  testTimeout: 60_000,
  projects: [
    { ...project, testMatch: ['<rootDir>/test/**/*.test.ts'], testPathIgnorePatterns: ['<rootDir>/test/trainer/'] },
    // Once more with a worker that forgets each run after each task, and replays it for the next.
    {
      ...project,
      displayName: 'uncached',
      testMatch: ['<rootDir>/test/workflows/*.test.ts'],
      globals: { maxCachedWorkflows: 0 },
    },
  ],
};
