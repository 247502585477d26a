import { QuestionSets } from '../../../src/evaluation/activities';
import { questionSetKey } from '../../../src/evaluation/definitions';
import { keepLines } from '../../../src/store/records';
import { keepRightPlans, writeExamples } from '../../../src/training/activities/imitate';
import { keepGroup } from '../../../src/training/activities/records';
import type { TrainingExample } from '../../../src/training/definitions';
import { resolveTraining } from '../../../src/training/config';
import type { TrainableConfig, TrainingInput } from '../../../src/training/config/schema';
import { aGroup, aRollout } from '../../cli/train/show/a-group';
import { keepSamplesOf } from './group-records';
import { openQuestionFolder, type QuestionFolder, row } from './questions';

let folder: QuestionFolder;
let set: string;
beforeEach(async () => {
  folder = await openQuestionFolder();
  const questions = ['a', 'b'].map((id) => row(id));
  ({ key: set } = await keepLines(folder.store, questions, questionSetKey));
});

const planOf = (subtask: string): string => `model_id = [0]\nsubtasks = ["${subtask}"]\naccess_list = [[]]`;

/** Stores the group of one question of a cycle, with these right and wrong replies. */
async function keep(cycle: number, index: number, right: readonly string[], wrong: readonly string[]) {
  const replies = [...right, ...wrong];
  const rollouts = replies.map((_, place) =>
    aRollout(place, place < right.length ? {} : { verdict: 'wrong' }),
  );
  const own = {
    trainRun: 'sums',
    workers: ['w'],
    question: 'ab'.charAt(index),
    samples: `${cycle}-${index}.json`,
  };
  const group = aGroup(rollouts, { ...own, cycle, draw: index });
  await keepSamplesOf(folder.store, group, {}, replies.map(planOf));
  return { key: await keepGroup(folder.store, group), question: { set, index } };
}

async function write(
  cycle: number,
  groups: readonly Awaited<ReturnType<typeof keep>>[],
  training: TrainingInput = {},
): Promise<readonly TrainingExample[] | null> {
  const config: TrainableConfig = folder.config({
    imitation: { cycles: 3, steps: 2, batch: 10, learningRate: 1e-3 },
    ...training,
  });
  const { store } = folder;
  const asked = { cycle, settings: resolveTraining(config) };
  await keepRightPlans({ store, questions: new QuestionSets(store) }, { ...asked, groups });
  const stored = await writeExamples({ config, store, sealed: store }, asked);
  if (stored === null) return null;
  const lines = (await store.read(stored.key))?.toString().trimEnd().split('\n') ?? [];
  return lines.map((line) => JSON.parse(line) as TrainingExample);
}

const completionsIn = (examples: readonly TrainingExample[] | null): Set<string> =>
  new Set(examples?.map(({ completion }) => completion));

test('imitates nothing before a plan was right', async () => {
  expect(await write(1, [await keep(1, 0, [], ['Guess.'])])).toBeNull();
});

test('imitates only right plans, each with the prompt of its question', async () => {
  const groups = [await keep(1, 0, ['Solve it.'], ['Guess.']), await keep(1, 1, ['Add it up.'], ['Wait.'])];
  const examples = await write(1, groups);
  expect(examples).toHaveLength(20);
  expect(completionsIn(examples)).toEqual(new Set(['Solve it.', 'Add it up.'].map(planOf)));
  for (const example of examples ?? []) {
    const asked = example.completion === planOf('Solve it.') ? 'What is a?' : 'What is b?';
    expect(example).toMatchObject({
      messages: [{}, { role: 'user', content: expect.stringContaining(asked) as string }],
    });
  }
});

test('continues to imitate plans of earlier cycles, and writes the same when repeated', async () => {
  await write(1, [await keep(1, 0, ['Solve it.'], [])]);
  const later = [await keep(2, 1, ['Add it up.'], [])];
  const examples = await write(2, later);
  expect(completionsIn(examples)).toEqual(new Set(['Solve it.', 'Add it up.'].map(planOf)));
  expect(await write(2, later)).toEqual(examples);
});

test('gives the warm start’s examples their share', async () => {
  const warm = { prompt: 'any question', completion: 'any plan' };
  const warmStart = { examples: await folder.write('warm.jsonl', [warm]), steps: 1, learningRate: 1e-3 };
  const imitation = { cycles: 3, steps: 2, batch: 10, learningRate: 1e-3, warmStartShare: 0.3 };
  const examples = await write(1, [await keep(1, 0, ['Solve it.'], [])], { warmStart, imitation });
  expect(examples?.filter((each) => 'prompt' in each && each.prompt === warm.prompt)).toHaveLength(6);
});

test.each([
  ['imitation.cycles', { totalCycles: 3 }, 'fewer than "totalCycles"'],
  [
    'imitation.warmStartShare',
    { imitation: { cycles: 1, steps: 1, learningRate: 1e-3, warmStartShare: 0.1 } },
    '"warmStart" as well',
  ],
])('the configuration refuses an invalid %s', (_, training, words) => {
  const imitation = { cycles: 3, steps: 2, batch: 10, learningRate: 1e-3 };
  expect(() => folder.config({ imitation, ...training })).toThrow(words);
});
