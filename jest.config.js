const swc = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

const project = {
  testEnvironment: 'node',
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
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
