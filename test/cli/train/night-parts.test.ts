import { checkNightParts } from '../../../src/cli/train/night-parts';
import { trainingOf } from '../../../src/training/config';
import { codeRow, openQuestionFolder, row } from '../../training/activities/questions';

const ALONE =
  /^compute-engine .* alone, .* "pip install math-verify==0\.9\.0", or name its Python in CONDUCTOR_PYTHON$/;

test.each([
  ['Mathematics', { ...row('a'), grader: 'math' }, 'CONDUCTOR_PYTHON', '/no/python', 'note', ALONE],
  ['Code', codeRow('a'), 'CONDUCTOR_SANDBOX', 'none', 'broken', /CONDUCTOR_SANDBOX is "none": expected/],
])('names the grader for %s questions, or its fault, if there are any', async (...told) => {
  const [what, question, variable, value, state, words] = told;
  const folder = await openQuestionFolder();
  const { env } = process;
  process.env = { ...env, [variable]: value };
  const place = { store: folder.store, temporal: null, trainRun: 'sums' };
  const look = async () =>
    (await checkNightParts(trainingOf(folder.config()), place)).filter((each) => each.what === what);
  expect(await look()).toEqual([]);
  await folder.write('train.jsonl', [question]);
  expect(await look()).toEqual([{ what, state, text: expect.stringMatching(words) as string }]);
  process.env = env;
});
