import { checkNightParts } from '../../../src/training/cli/night-parts';
import { codeRow, openQuestionFolder, row } from '../activities/questions';

test('where questions are of mathematics, what judges them is named, and what is missing', async () => {
  const folder = await openQuestionFolder();
  process.env.CONDUCTOR_PYTHON = '/no/python';
  const { training } = folder.config();
  if (training === undefined) throw new Error('there is no training');
  const place = { store: folder.store, temporal: null, trainRun: 'sums' };
  const mathematics = async () =>
    (await checkNightParts(training, place)).filter(({ what }) => what === 'Mathematics');
  expect(await mathematics()).toEqual([]);
  await folder.write('train.jsonl', [{ ...row('a'), grader: 'math' }]);
  const text = expect.stringMatching(
    /^compute-engine .* alone, .* "pip install math-verify==0\.9\.0", or name its Python in CONDUCTOR_PYTHON$/,
  ) as string;
  expect(await mathematics()).toEqual([{ what: 'Mathematics', state: 'note', text }]);
  delete process.env.CONDUCTOR_PYTHON;
});

test('where questions are of code, the sandbox is named, or what is wrong with it', async () => {
  const folder = await openQuestionFolder();
  process.env.CONDUCTOR_SANDBOX = 'none';
  const { training } = folder.config();
  if (training === undefined) throw new Error('there is no training');
  const place = { store: folder.store, temporal: null, trainRun: 'sums' };
  await folder.write('train.jsonl', [codeRow('a')]);
  const code = (await checkNightParts(training, place)).filter(({ what }) => what === 'Code');
  const text = expect.stringContaining('CONDUCTOR_SANDBOX is "none": expected') as string;
  expect(code).toEqual([{ what: 'Code', state: 'broken', text }]);
  delete process.env.CONDUCTOR_SANDBOX;
});
