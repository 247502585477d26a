import { join } from 'node:path';
import { SqliteStore } from '../../../src/store/sqlite-store';
import { type Ended, runCommand } from '../../cli/command';
import { type Folder, makeFolder, poolAt } from '../../cli/folder';
import { keepRun } from '../client/keep-run';
import { aGroup, aRollout } from './show/a-group';

let folder: Folder;

beforeEach(async () => {
  folder = await makeFolder();
  await folder.write('conductor.yaml', poolAt('http://127.0.0.1:9', { store: 'sqlite:store.db' }));
});

afterEach(() => folder.remove());

function writeNotes(): Promise<Ended> {
  return runCommand(['train', 'notes', '--run', 'nightly'], { cwd: folder.path });
}

const QUESTION = { id: 'algebra-17', question: 'How many?', answer: '42', grader: 'number' };
const ROLLOUTS = Array.from({ length: 6 }, (_, index) =>
  aRollout(index, { verdict: index < 4 ? 'correct' : 'wrong' }),
);

test('notes on the workers are printed as they may stand in a configuration', async () => {
  const store = new SqliteStore(join(folder.path, 'store.db'));
  await keepRun(store, 'nightly', [{ ...QUESTION, topic: 'algebra' }], [aGroup(ROLLOUTS)]);
  expect(await writeNotes()).toMatchObject({
    code: 0,
    stdout: 'workers:\n  - id: quick\n    notes: algebra 67 %\n',
  });
});

test('questions without a topic tell nothing of anybody, and that is said', async () => {
  const store = new SqliteStore(join(folder.path, 'store.db'));
  await keepRun(store, 'nightly', [QUESTION], [aGroup(ROLLOUTS)]);
  const { code, stderr } = await writeNotes();
  expect(code).toBe(2);
  expect(stderr).toContain('it takes a cycle that is over, and questions with a "topic"');
});
