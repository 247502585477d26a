import { join } from 'node:path';
import './at-the-end';

/** Set by jest's configuration: test files that run together, by the first of each group, which jest knows alone. */
declare global {
  var groups: readonly (readonly string[])[];
}

const ROOT = join(__dirname, '..', '..');

/*
 * Runs several test files in one place of jest's, which loads modules and workflows anew for each file: for most files,
 * that takes longer than their tests. Each file finds the environment as it was, and nothing mocked. jest then loads the
 * first file once more, which a loaded module does not notice.
 */
for (const file of groupOf(expect.getState().testPath)) {
  describe(file, () => {
    const before = { ...process.env };
    afterAll(() => {
      process.env = { ...before };
      jest.restoreAllMocks();
    });
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- a file declares its tests while it is loaded
    require(join(ROOT, file));
  });
}

function groupOf(path: string | undefined): readonly string[] {
  return groups.find(([first = '']) => join(ROOT, first) === path) ?? [];
}
