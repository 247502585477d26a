import { join } from 'node:path';
import { SqliteStore } from '../../../src/store/sqlite-store';
import type { Ended } from '../../cli/command';
import { poolAt } from '../../cli/folder';
import { useFolder } from '../../cli/stage';
import { keepRun } from '../client/keep-run';
import { aGroup, aRollout } from './show/a-group';

const stage = useFolder();

beforeEach(() =>
  stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:9', { store: 'sqlite:store.db' })),
);

const writeNotes = (): Promise<Ended> => stage.run('train', 'notes', '--run', 'nightly');

const QUESTION = { id: 'algebra-17', question: 'How many?', answer: '42', grader: 'number' };
const ROLLOUTS = Array.from({ length: 6 }, (_, index) =>
  aRollout(index, { verdict: index < 4 ? 'correct' : 'wrong' }),
);

test('notes on the workers are printed as they may stand in a configuration', async () => {
  const store = new SqliteStore(join(stage.folder.path, 'store.db'));
  await keepRun(store, 'nightly', [{ ...QUESTION, topic: 'algebra' }], [aGroup(ROLLOUTS)]);
  expect(await writeNotes()).toMatchObject({
    code: 0,
    stdout: 'workers:\n  - id: quick\n    notes: algebra 67 %\n',
  });
});

test('questions without a topic tell nothing of anybody, and that is said', async () => {
  const store = new SqliteStore(join(stage.folder.path, 'store.db'));
  await keepRun(store, 'nightly', [QUESTION], [aGroup(ROLLOUTS)]);
  const { code, stderr } = await writeNotes();
  expect(code).toBe(2);
  expect(stderr).toContain('it takes a cycle that is over, and questions with a "topic"');
});
