import { join } from 'node:path';
import './at-the-end';

/** Set by jest's configuration: the test files of one of its projects. */
declare global {
  var together: readonly string[];
}

/*
 * Runs several test files in one place of jest's, which loads modules and workflows anew for each file: for most files,
 * that takes longer than their tests. Each file finds the environment as it was, and nothing mocked.
 */
describe.each(globalThis.together)('%s', (file) => {
  const before = { ...process.env };
  afterAll(() => {
    process.env = { ...before };
    jest.restoreAllMocks();
  });
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- a file declares its tests while it is loaded
  require(join(__dirname, '..', '..', file));
});
