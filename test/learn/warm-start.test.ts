import { chanceOfPlan, findOptimum, kindOf, optimumFor, toReward } from '../../examples/learn/world/optimum';
import { questionSet, readQuestion, type Split } from '../../examples/learn/world/questions';
import { priorNamed, warmStartExamples } from '../../examples/learn/world/warm-start';
import {
  SMALL_WORLD,
  teamsOf,
  WHOLE_WORLD,
  workerOf,
  type World,
  type WorldWorker,
} from '../../examples/learn/world/world';
import { parsePlan } from '../../src/plan/parse';
import type { Plan, Step } from '../../src';

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

test.each([SMALL_WORLD, WHOLE_WORLD])(
  'every example of the $name world is a plan under a true line of reasoning',
  (world) => {
    for (const { completion, topic, plan } of examplesOf(world, 300)) {
      expect(completion).toMatch(new RegExp(`^About ${topic.name}: [a-z, ]+\\.\nmodel_id = `));
      expect(plan.steps.length).toBeLessThanOrEqual(world.maxSteps);
    }
  },
);

test.each([SMALL_WORLD, WHOLE_WORLD])(
  'the most likely plan of each topic of the $name world is a bad one',
  (world) => {
    const examples = examplesOf(world, 2000);
    const rewards = world.topics.map((topic) => {
      const counts = new Map<string, number>();
      const own = examples.filter((example) => example.topic.name === topic.name);
      for (const { plan } of own)
        counts.set(JSON.stringify(plan), (counts.get(JSON.stringify(plan)) ?? 0) + 1);
      const [mode = ''] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? [];
      return toReward(
        chanceOfPlan(
          world,
          topic,
          own.find(({ plan }) => JSON.stringify(plan) === mode)?.plan ?? { steps: [] },
        ),
      );
    });
    const ratio =
      rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length / findOptimum(world).reward;
    expect(ratio).toBeLessThan(0.85);
    const isBest = ({ plan, topic, best }: (typeof examples)[number]): boolean =>
      chanceOfPlan(world, topic, plan) === best.best.chance;
    expect(shareOf(examples, isBest)).toBeLessThan(0.1);
  },
);

test.each([SMALL_WORLD, WHOLE_WORLD])(
  'the parts of the best plans of the $name world come up often enough to be found',
  (world) => {
    const examples = examplesOf(world, 2000);
    for (const topic of world.topics) {
      const own = examples.filter((example) => example.topic.name === topic.name);
      const isBestShape = ({ plan, best }: (typeof own)[number]): boolean =>
        kindsOf(plan) === kindsOf(best.best.plan);
      expect(shareOf(own, isBestShape)).toBeGreaterThan(0.2);

      const steps = own.flatMap(({ plan }) => plan.steps);
      const hasBestWorker = ({ worker, subtask }: Step): boolean => {
        const kind = kindOf(subtask);
        const most = Math.max(...world.workers.map((each) => each[kind][topic.name]));
        return workerOf(world, worker)[kind][topic.name] === most;
      };
      expect(shareOf(steps, hasBestWorker)).toBeGreaterThan(0.25);
    }
  },
);

test('a blind prior has the best shapes, and the best plans, by chance alone', () => {
  const examples = examplesOf(WHOLE_WORLD, 2000, 'blind');
  expect(shareOf(examples, ({ plan, best }) => kindsOf(plan) === kindsOf(best.best.plan))).toBeLessThan(0.12);
  const isBest = ({ plan, topic, best }: (typeof examples)[number]): boolean =>
    chanceOfPlan(WHOLE_WORLD, topic, plan) === best.best.chance;
  expect(shareOf(examples, isBest)).toBeLessThan(0.01);
  expect(() => priorNamed('sighted')).toThrow('--prior takes decoy or blind, not "sighted".');
});

function kindsOf({ steps }: Plan): string {
  return steps.map(({ subtask }) => kindOf(subtask)).join();
}

function shareOf<Item>(items: readonly Item[], is: (item: Item) => boolean): number {
  return items.filter(is).length / items.length;
}

test('with teams, the reasoning names whom each step wants, and the ordinal is where the prompt lists them', () => {
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

test('every team is either to learn in or held out, and none is too small', () => {
  const namesOf = (split: Split) =>
    teamsOf(WHOLE_WORLD, split, 2).map(({ workers }) => workers.map(({ id }) => id).join());
  const all = [...namesOf('train'), ...namesOf('heldOut')];
  expect(new Set(all).size).toBe(26);
  expect(namesOf('heldOut')).toHaveLength(6);
  expect(all.filter((names) => !names.includes(','))).toEqual([]);
});
