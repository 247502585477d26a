import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { ConfigError } from '../../../src/config/errors';
import { inspectDataSet } from '../../../src/evaluation/data';
import { lastLineOf } from '../../../src/evaluation/workflows/grading';
import { isSameOutput, isSameValue } from '../../../src/grading/code/compare-output';
import { freshFolder } from '../../local/fresh-folder';
import { hostileText } from '../../support/hostile-text';
import { tries } from '../../support/thorough';

// Files that no one would write: each is read at once, or refused in a sentence. No time is measured here: code with
// more than linear cost would make the test take minutes.

jest.setTimeout(300_000);

const PIECES = [
  ...['{"question":"', '"answer":', '"id":1', '"}', '\\u', '\r\n', 'PAR1', 'e9', 'true', '\u001f\u008b'],
  ...['\ud800', '\u001b[2J', ...Array.from('{}[]"\',:\n\0 \t01.-`*')],
];

test('any file is inspected, or refused as no file of questions', async () => {
  const folder = await freshFolder();
  const file = join(folder, 'questions');
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('', '{"question":', 'question,answer\n', 'PAR1'),
      hostileText(PIECES),
      async (start, text) => {
        await writeFile(file, start + text);
        const found: unknown = await inspectDataSet(file).catch((error: unknown) => error);
        if (found instanceof ConfigError) expect(found.message.length).toBeLessThan(1000);
        else expect(found).toMatchObject({ file });
        expect(JSON.stringify(found).length).toBeLessThan(100_000);
      },
    ),
    { numRuns: tries(20) },
  );
});

test('any output of a program and any reply of a judge can be compared', () => {
  const text = hostileText(PIECES);
  fc.assert(
    fc.property(text, text, (right, printed) => {
      expect(isSameOutput(right, right)).toBe(true);
      isSameOutput(right, printed);
      expect(isSameValue('[1, {"a": "x"}]', printed)).toBe(false);
      isSameValue(printed, right);
      expect(lastLineOf(printed).length).toBeLessThanOrEqual(200);
    }),
    { numRuns: tries(20) },
  );
});
