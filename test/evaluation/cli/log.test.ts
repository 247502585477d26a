import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SimulatedRequest } from '../../../src/testing';
import { type EvaluationFolder, openEvaluationFolder } from './commands';

/** Takes whichever stands first, unless one of them alone speaks of a lighthouse. */
function judge({ text }: SimulatedRequest): string {
  const [, first = '', second = '', equal = ''] = /nothing else: (\S+) or (\S+) or (\S+)/.exec(text) ?? [];
  return `I compare.\n\n${first === '' ? `${second}${equal}` : first}`;
}

let stage: EvaluationFolder;
beforeAll(async () => {
  stage = await openEvaluationFolder(4, { judge: { price: { input: 1, output: 1 }, answer: judge } });
});
afterAll(() => stage.close());

test('the log of solves is answered by the best single worker as well, and nothing of it is paid again', async () => {
  const refused = await stage.run(['eval', '--from-traces', '--max-cost', '1']);
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain('name it with --methods (worker:scholar, worker:coder, worker:clerk)');
  const ids: string[] = [];
  for (const { question } of stage.questions) {
    const { code, stdout } = await stage.run(['solve', question, '--json']);
    expect(code).toBe(0);
    ids.push((JSON.parse(stdout) as { id: string }).id);
  }
  const before = stage.providers.log.length;
  const args = ['eval', '--from-traces', '--methods', 'worker:clerk', '--max-cost', '1', '--out', 'one'];
  const alone = await stage.run(args);
  console.log(alone.stdout, alone.stderr);
  expect(alone).toMatchObject({ code: 0 });
  console.log(await readFile(join(stage.folder.path, 'one', 'report.md'), 'utf8'));
  expect(stage.providers.log.slice(before).map(({ model }) => model)).toEqual(Array(4).fill('clerk'));
  const records = await stage.results('one');
  expect(records.filter(({ method }) => method === 'conductor').map(({ runs }) => runs[0])).toEqual(
    expect.arrayContaining(ids),
  );
}, 120_000);
