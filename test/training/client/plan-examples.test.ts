import { parseTrainable } from '../../../src/training/config';
import { resolveRun } from '../../../src/config/resolve-run';
import { type AskedHow, examplesOfRun, writeExample } from '../../../src/training/client';
import { keepSamplesOf } from '../activities/group-records';
import { aGroup, aRollout } from '../../cli/train/show/a-group';
import { keepRun } from './keep-run';
import { freshStore } from '../../local/fresh-folder';

let asked: AskedHow;

beforeEach(async () => {
  const model = { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' } as const;
  const pool = ['quick', 'scholar'].map((id) => ({ ...model, id }));
  const config = parseTrainable({ conductor: model, workers: pool });
  const limits = { maxSteps: 2, maxPromptTokens: 100, maxOutputTokens: 100 };
  asked = {
    store: await freshStore(),
    workers: resolveRun(config, {}).workers,
    settings: {
      prompt: 'compact',
      describe: 'names',
      access: 'binary',
      subtasks: true,
      examples: [],
      ...limits,
    },
  };
});

const TEAM = { steps: [{ worker: 'scholar', subtask: 'Solve it.', sees: [] }] };

test('a question and a plan become what the policy reads and writes', async () => {
  expect(await writeExample({ question: 'How many?', plan: TEAM }, asked)).toEqual({
    messages: [{ role: 'user', content: 'How many?\nWorkers:\nModel id 0: quick\nModel id 1: scholar' }],
    completion: 'model_id = [1]\nsubtasks = ["Solve it."]\naccess_list = [[]]',
  });
});

test('workers are numbered in the order in which the row names them', async () => {
  const row = { question: 'How many?', plan: TEAM, workers: ['scholar', 'quick'] };
  expect(await writeExample(row, asked)).toMatchObject({
    messages: [{ content: expect.stringContaining('Model id 0: scholar\nModel id 1: quick') as string }],
    completion: expect.stringContaining('model_id = [0]') as string,
  });
});

test('a whole reply is kept word for word, except for half a character', async () => {
  const reply = 'Easy <|im_end|> \uD83D.\nmodel_id = [0]\nsubtasks = ["Answer."]\naccess_list = [[]]';
  const { completion } = await writeExample({ question: 'How many?', plan: reply }, asked);
  expect(completion).toBe(reply.replace('\uD83D', '\uFFFD'));
});

test.each([
  ['a plan that cannot be read', { question: 'q', plan: 'no lists' }],
  [
    'too many steps',
    { question: 'q', plan: { steps: [0, 1, 2].map(() => ({ worker: 'quick', subtask: 's', sees: [] })) } },
  ],
  ['a worker that is not there', { question: 'q', plan: TEAM, workers: ['nobody'] }],
])('refuses %s', async (_, row) => {
  await expect(writeExample(row, asked)).rejects.toThrow();
});

test('a training run gives its right plans of first rounds, each once, and counts those that do not fit', async () => {
  const { store } = asked;
  const questions = [{ id: 'algebra-17', question: 'How many?', answer: '42', grader: 'exact' }];
  const right = 'Easy.\nmodel_id = [0]\nsubtasks = ["Answer."]\naccess_list = [[]]';
  const long = 'model_id = [0, 0, 0]\nsubtasks = ["a", "b", "c"]\naccess_list = [[], [], []]';
  const replies = [right, right, 'model_id = [1]', long];
  const rollouts = [aRollout(0), aRollout(1), aRollout(2, { verdict: 'wrong' }), aRollout(3)];
  const group = aGroup(rollouts, { samples: 'samples.json' });
  await keepSamplesOf(store, group, {}, replies);
  await keepRun(store, 'nightly', questions, [group, { ...group, round: 1 }]);

  const { examples, unfit } = await examplesOfRun('nightly', asked);
  expect(examples.map(({ completion }) => completion)).toEqual([right]);
  expect(unfit).toBe(1);
});
