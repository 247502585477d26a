// `npm run test:slow`: what takes long and needs nothing more than `npm test` does.
const long = require('./jest.long.json');
const { projects, ...common } = require('./jest.config.js');

const [project] = projects;

/** @type {import('jest').Config} */
module.exports = {
  ...common,
  projects: [
    // The workflows once more, with a worker that forgets each run after each task, and replays it for the next.
    {
      ...project,
      displayName: 'uncached',
      testMatch: ['<rootDir>/test/workflows/*.test.ts'],
      globals: { maxCachedWorkflows: 0 },
    },
    {
      ...project,
      displayName: 'long',
      testMatch: long.map((path) => `<rootDir>/${path}`),
      testPathIgnorePatterns: [],
    },
  ],
};
