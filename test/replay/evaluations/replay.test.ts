import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { workflowBundle } from '../../support/temporal';
import { EVALUATION_SHAPES } from './shapes';

const FOLDER = join(__dirname, 'histories');
const names = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));

test('every shape of an evaluation has its history', () => {
  expect(names.sort()).toEqual(Object.keys(EVALUATION_SHAPES).sort());
});

test.each(names)('the history of %s replays on the workflow code of today', async (name) => {
  const history: unknown = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
  const id = `eval-${name}${EVALUATION_SHAPES[name]?.ofQuestion === true ? '-1' : ''}`;
  await Worker.runReplayHistory({ workflowBundle: workflowBundle() }, history, id);
});
