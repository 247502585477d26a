// `npm run test:training`: what needs the trainer's Python. Two at a time, since these compute.
const { projects, ...common } = require('./jest.config.js');

const [project] = projects;

/** @type {import('jest').Config} */
module.exports = {
  ...common,
  maxWorkers: 2,
  projects: [{ ...project, testMatch: ['<rootDir>/test/trainer/**/*.test.ts'], testPathIgnorePatterns: [] }],
};
