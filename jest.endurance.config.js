// `npm run test:endurance`: what takes many minutes, one file at a time. Shorter forms of it are in the other lanes.
const { projects, ...common } = require('./jest.config.js');

const [project] = projects;

/** @type {import('jest').Config} */
module.exports = {
  ...common,
  maxWorkers: 1,
  projects: [
    { ...project, testMatch: ['<rootDir>/test/**/*.endurance.test.ts'], testPathIgnorePatterns: [] },
  ],
};
