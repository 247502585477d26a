import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshFolder } from '../../local/fresh-folder';
import { measureAnswers } from './real-answers';

const sample = (name: string): string => join(__dirname, '../../evaluation/data/samples', name);

test('right answers of a file are measured on their own question, on the next one, by tier, and rounded', async () => {
  const math = await measureAnswers(sample('math-500.jsonl'));
  expect(math[0]).toBe('MATH-500, math: 12 of 12 right for their own question, 0 of 12 for the next one');
  expect(math[1]).toMatch(/^ {2}tier 1: 12 of 12; tier 2/);
  const rlpr = await measureAnswers(sample('rlpr.parquet'));
  expect(rlpr.join('\n')).toMatch(/RLPR, freeform: (\d+) of \1 right for their own question, 0 of \d+/);
  const row = { id: 'a', question: 'Q', grader: 'freeform', answer: '3.14159 m', tolerance: 1e-3 };
  const file = join(await freshFolder(), 'rows.jsonl');
  await writeFile(file, `${JSON.stringify(row)}\n${JSON.stringify({ ...row, id: 'b', answer: '2.5 m' })}\n`);
  expect(await measureAnswers(file)).toContain(
    '  rounded to 3 digits: 1 of 1 right with the tolerance of their question, 0 of 1 without',
  );
}, 60_000);
