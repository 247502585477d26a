// `npm run malformed`: ten thousand requests that are made of the gateway's own document, in some minutes.
const { projects, ...common } = require('./jest.config.js');

/** @type {import('jest').Config} */
module.exports = {
  ...common,
  projects: [{ ...projects[0], testMatch: ['<rootDir>/test/gateway/malformed.ts'] }],
};
