import { chanceOfPlan, findOptimum, kindOf, optimumFor, toReward } from '../world/optimum';
import { questionSet, readQuestion, type Split } from '../world/questions';
import { priorNamed, warmStartExamples } from '../world/warm-start';
import { SMALL_WORLD, teamsOf, WHOLE_WORLD, workerOf, type World, type WorldWorker } from '../world/world';
import { parsePlan } from '../../src/plan/parse';
import type { Plan, Step } from '../../src';
import { groupBy } from '../../src/statistics/tally';

function examplesOf(world: World, count: number, prior = 'decoy') {
  const questions = questionSet(world, 'train', 400, 1);
  const optimum = findOptimum(world);
  const promptFor = (question: string) => `Q: ${question}`;
  const context = { workers: world.workers.map(({ id }) => id), maxSteps: world.maxSteps, round: 0 };
  const examples = warmStartExamples({
    world,
    questions,
    count,
    seed: 2,
    prior: priorNamed(prior),
    promptFor,
  });
  return examples.map(({ prompt, completion }) => {
    const { topic } = readQuestion(world, prompt);
    const best = optimumFor(world, optimum, topic.name);
    return { completion, topic, plan: parsePlan(completion, context), best };
  });
}

describe.each([SMALL_WORLD, WHOLE_WORLD])('warm-start examples of the $name world', (world) => {
  test('each give a plan after a true line of reasoning', () => {
    for (const { completion, topic, plan } of examplesOf(world, 300)) {
      expect(completion).toMatch(new RegExp(`^About ${topic.name}: [a-z, ]+\\.\nmodel_id = `));
      expect(plan.steps.length).toBeLessThanOrEqual(world.maxSteps);
    }
  });

  const examples = examplesOf(world, 2000);

  test('make a bad plan the most likely one of each topic', () => {
    const rewards = world.topics.map((topic) => {
      const own = examples.filter((example) => example.topic.name === topic.name);
      const alike = [...groupBy(own, ({ plan }) => JSON.stringify(plan)).values()];
      const [mode = []] = alike.toSorted((one, other) => other.length - one.length);
      return toReward(chanceOfPlan(world, topic, mode[0]?.plan ?? { steps: [] }));
    });
    const ratio =
      rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length / findOptimum(world).reward;
    expect(ratio).toBeLessThan(0.85);
    expect(shareOf(examples, isBest(world))).toBeLessThan(0.1);
  });

  test('contain the parts of the best plans often enough for them to be found', () => {
    for (const topic of world.topics) {
      const own = examples.filter((example) => example.topic.name === topic.name);
      expect(shareOf(own, isBestShape)).toBeGreaterThan(0.2);

      const steps = own.flatMap(({ plan }) => plan.steps);
      const hasBestWorker = ({ worker, subtask }: Step): boolean => {
        const kind = kindOf(subtask);
        const most = Math.max(...world.workers.map((each) => each[kind][topic.name]));
        return workerOf(world, worker)[kind][topic.name] === most;
      };
      expect(shareOf(steps, hasBestWorker)).toBeGreaterThan(0.25);
    }
  });
});

test('a blind prior draws the best shapes, and the best plans, only by chance', () => {
  const examples = examplesOf(WHOLE_WORLD, 2000, 'blind');
  expect(shareOf(examples, isBestShape)).toBeLessThan(0.12);
  expect(shareOf(examples, isBest(WHOLE_WORLD))).toBeLessThan(0.01);
  expect(() => priorNamed('sighted')).toThrow('--prior takes decoy or blind, not "sighted".');
});

type Example = ReturnType<typeof examplesOf>[number];

const isBest =
  (world: World) =>
  ({ plan, topic, best }: Example): boolean =>
    chanceOfPlan(world, topic, plan) === best.best.chance;

const isBestShape = ({ plan, best }: Example): boolean => kindsOf(plan) === kindsOf(best.best.plan);

function kindsOf({ steps }: Plan): string {
  return steps.map(({ subtask }) => kindOf(subtask)).join();
}

function shareOf<Item>(items: readonly Item[], is: (item: Item) => boolean): number {
  return items.filter(is).length / items.length;
}

test('with teams, the reasoning names the worker for each step, whose ordinal is its place in the prompt', () => {
  const teams = teamsOf(SMALL_WORLD, 'train', 2);
  const questions = questionSet(SMALL_WORLD, 'train', 100, 1);
  const promptFor = (_: string, workers: readonly WorldWorker[]) => workers.map(({ id }) => id).join();
  const examples = warmStartExamples({
    world: SMALL_WORLD,
    questions,
    count: 200,
    seed: 2,
    teams,
    promptFor,
  });
  for (const { prompt, completion } of examples) {
    const workers = prompt.split(',');
    const { steps } = parsePlan(completion, { workers, maxSteps: 2, round: 0 });
    const wanted = [...completion.matchAll(/ by (\w+\d)/g)].map(([, worker]) => worker);
    const told = steps.map(
      ({ worker }) => `${workerOf(SMALL_WORLD, worker).specialty}${workers.indexOf(worker)}`,
    );
    expect(told).toEqual(wanted);
  }
  expect(new Set(examples.map(({ prompt }) => prompt)).size).toBeGreaterThan(teams.length);
});

test('every team is either for training or held out, and none has fewer than two workers', () => {
  const namesOf = (split: Split) =>
    teamsOf(WHOLE_WORLD, split, 2).map(({ workers }) => workers.map(({ id }) => id).join());
  const all = [...namesOf('train'), ...namesOf('heldOut')];
  expect(new Set(all).size).toBe(26);
  expect(namesOf('heldOut')).toHaveLength(6);
  expect(all.filter((names) => !names.includes(','))).toEqual([]);
});
