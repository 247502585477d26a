import { gunzipSync } from 'node:zlib';
import { ApplicationFailure } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import {
  readCycleGroups,
  readMetrics,
  readNight,
  readTrainRun,
} from '../../../src/training/activities/records';
import type { CustomGradeRequest, NightBudget } from '../../../src/training';
import { samplingSeed } from '../../../src/training/draw';
import { CANNOT_LEARN, nightWorkflowId, PREFLIGHT, UPDATE } from '../../../src/training/names';
import type { TrainingInput } from '../../../src/training/config/schema';
import { ArtifactFolder } from '../../../src/training/artifacts';
import { batchKey } from '../../../src/training/store-keys';
import { readServing } from '../../../src/training/client';
import { startImpatientServer } from '../../support/impatient-server';
import { testTaskQueue } from '../../support/temporal';
import {
  openScriptedTraining,
  REPLIES,
  type ScriptedTraining,
  type ScriptedTrainingOptions,
} from '../../support/scripted-training';
import { standInTrainer } from '../../support/stand-in-trainer';
import { until } from '../../support/until';

jest.setTimeout(300_000);

const DATE = '2026-01-10';
const NEXT = '2026-01-11';

let stage: ScriptedTraining;
const open = async (options: ScriptedTrainingOptions): Promise<void> => {
  stage = await openScriptedTraining(options);
};
afterEach(() => stage.close());

const train = (date: string) => stage.train(date);

/** Starts a night, and sends it a message while its first cycle is under way. */
async function trainAndSay(date: string, say: (trainRun: string) => Promise<unknown>): Promise<void> {
  const letGo = stage.providers.hold('a');
  await stage.training.start({ trainRun: stage.trainRun, date });
  await stage.providers.waitForRequest(({ model }) => model === 'a');
  await say(stage.trainRun);
  letGo();
}

/** Returns the workflow ids of the groups that the night has begun. */
async function groupsBegun(): Promise<(string | null | undefined)[]> {
  const handle = stage.temporal.client.workflow.getHandle(nightWorkflowId(stage.trainRun));
  const { events } = await handle.fetchHistory();
  const children = (events ?? []).map((event) => event.startChildWorkflowExecutionInitiatedEventAttributes);
  return children.flatMap((child) => (child ? [child.workflowId] : []));
}

const cycles = () => readMetrics(stage.store, stage.trainRun);

test('a checkpoint that beats the prompted Conductor serves, and the next night starts from the last one', async () => {
  await open({ heldOut: 5, training: { cycles: 2 } });
  await stage.whileWorking(async () => {
    expect(await train(DATE)).toMatchObject({ status: 'done', done: 2, cycles: { first: 1, last: 2 } });
    const { serving, reason } = await readServing(stage.store);
    expect(serving).toMatchObject({ trainRun: stage.trainRun, name: '000002' });
    expect(reason).toContain('beats the prompted Conductor');
    expect(await train(NEXT)).toMatchObject({ done: 4, cycles: { first: 3, last: 4 } });
  });
  const updates = (await cycles()).map(({ checkpoint }) => checkpoint);
  expect(updates).toEqual([1, 2, 3, 4].map((cycle) => `${stage.trainRun}/00000${cycle}`));
  expect((await readNight(stage.store, stage.trainRun, NEXT))?.begun).toMatchObject({ name: '000002' });
});

test('a group without spread is replaced by another, in the order of draws, and teaches nothing', async () => {
  await open({ question: { topic: 'sums' }, training: { questions: 2, maxDraws: 4, seed: 7 } });
  const dull = [0, 2].map((draw) => samplingSeed({ seed: 7, purpose: 'training', cycle: 1, draw, round: 0 }));
  stage.policy.writeEach(({ seed }, place) =>
    place === 0 || dull.includes(Number(seed)) ? REPLIES.right : REPLIES.wrong,
  );
  await stage.whileWorking(() => train(DATE));
  const sums = { plans: 8, graded: 8, right: 6 };
  expect(await cycles()).toMatchObject([
    { draws: 4, dropped: 2, verdicts: { correct: 6, wrong: 2 }, topics: { sums } },
  ]);
  // Each verdict is stored with its reason.
  const rollouts = (await readCycleGroups(stage.store, stage.trainRun, 1)).flatMap((group) => group.rollouts);
  expect(rollouts).toHaveLength(8);
  for (const { verdict, reason, extracted, graderVersion } of rollouts) {
    expect(reason).toMatch(verdict === 'correct' ? /^it is the same/ : /differs from 42$/);
    expect([extracted, graderVersion]).toEqual([expect.any(String), expect.stringMatching(/\/\d/)]);
  }
});

test('with keepFlat, a group without spread stays in the batch, and no other is drawn', async () => {
  await open({ training: { questions: 2, maxDraws: 4, seed: 7, keepFlat: true } });
  const flat = samplingSeed({ seed: 7, purpose: 'training', cycle: 1, draw: 0, round: 0 });
  stage.policy.writeEach(({ seed }, place) =>
    place === 0 || Number(seed) === flat ? REPLIES.right : REPLIES.wrong,
  );
  await stage.whileWorking(() => train(DATE));
  expect(await cycles()).toMatchObject([{ draws: 2, dropped: 0 }]);
  expect(await rewardsInBatch()).toEqual([0.5, 1, 1, 1]);
});

/** Returns the sorted rewards of the rows in the first cycle's batch. */
async function rewardsInBatch(): Promise<unknown[]> {
  const artifacts = new ArtifactFolder(stage.config.training?.artifacts ?? '');
  const lines = gunzipSync((await artifacts.read(batchKey(stage.trainRun, 1))) ?? '').toString();
  const rows = lines.trimEnd().split('\n').slice(1);
  return rows.map((row) => (JSON.parse(row) as { reward: unknown }).reward).sort();
}

/** Trains a night whose grader is the test's own activity. */
async function trainJudgedBy(
  judge: (request: CustomGradeRequest) => unknown,
  training: TrainingInput = {},
  replies: readonly string[] = [],
): Promise<void> {
  const taskQueue = testTaskQueue();
  await open({ question: { grader: 'custom', activity: 'judge', taskQueue }, training });
  if (replies.length > 0) stage.policy.writeEach((_, place) => replies[place] ?? '');
  const activities = { judge: (request: CustomGradeRequest) => Promise.resolve(judge(request)) };
  const worker = await Worker.create({ connection: stage.temporal.nativeConnection, taskQueue, activities });
  await worker.runUntil(() => stage.whileWorking(() => train(DATE)));
}

test("answers may be graded by a user's own activity, on its own task queue", async () => {
  const requests: CustomGradeRequest[] = [];
  await trainJudgedBy((request) => {
    requests.push(request);
    return { verdict: request.answer === request.right ? 'correct' : 'unparseable', why: 'as it is' };
  });
  expect(await cycles()).toMatchObject([
    { verdicts: { correct: 1, wrong: 1, unparseable: 0 }, rewardMean: 0.75 },
  ]);
  expect(requests).toContainEqual({
    id: expect.stringMatching(/^train\.jsonl-/) as string,
    question: expect.stringContaining('What is 6 times 7') as string,
    answer: '41',
    right: '42',
  });
});

test('an answer whose custom grader fails, or returns an unknown verdict, is ungraded; a cycle of such answers ends the night', async () => {
  const night = trainJudgedBy(({ answer }) => {
    if (answer === '42') return { verdict: 'splendid' };
    throw ApplicationFailure.nonRetryable('the judge is ill');
  });
  const sentence = 'cycle 1: none of its 2 answers could be graded.';
  const cause = { type: CANNOT_LEARN, message: expect.stringContaining(sentence) as unknown };
  await expect(night).rejects.toMatchObject({ cause });
  expect(await readTrainRun(stage.store, stage.trainRun)).toBeNull();
  const [group] = await readCycleGroups(stage.store, stage.trainRun, 1);
  expect(group?.rollouts).toMatchObject(Array(2).fill({ verdict: 'ungraded', reward: null }));
  const reasons = group?.rollouts.map(({ invalidBecause }) => invalidBecause);
  expect(reasons).toEqual([
    'the grader judge returned no known verdict',
    expect.stringMatching(/^the grader judge on task queue .* failed: the judge is ill$/),
  ]);
});

test.each([
  [0, [0, 1]],
  [0.1, [0, 1, null]],
])('at a KL weight of %s, the trainer is sent rewards of %j', async (beta, rewards) => {
  const judge = ({ answer }: CustomGradeRequest): unknown => {
    if (answer === '42') return { verdict: 'correct' };
    throw ApplicationFailure.nonRetryable('the judge is ill');
  };
  const trainer = { loss: { name: 'dapo', beta } } as const;
  await trainJudgedBy(judge, { groupSize: 3, trainer }, [REPLIES.right, REPLIES.wrong, REPLIES.none]);
  expect(await rewardsInBatch()).toEqual(rewards);
});

test('a cycle without any spread leaves the checkpoint unchanged', async () => {
  await open({ training: { cycles: 2 } });
  stage.policy.script(REPLIES.right);
  await stage.whileWorking(() => train(DATE));
  const base = `${stage.trainRun}/base`;
  expect(await cycles()).toMatchObject([
    { cycle: 1, checkpoint: base, update: null, weightsSha256: null },
    { cycle: 2, checkpoint: base, update: null, weightsSha256: null },
  ]);
});

test('a night whose policy writes no plan at all ends after one cycle, which does not count, with the reason', async () => {
  await open({ training: { cycles: 2 } });
  stage.policy.script(REPLIES.none);
  await stage.whileWorking(async () => {
    const sentence = `cycle 1: none of the 2 replies of ${stage.trainRun}/base was a plan.`;
    const cause = { type: CANNOT_LEARN, message: expect.stringContaining(sentence) as unknown };
    await expect(train(DATE)).rejects.toMatchObject({ cause });
    // The next night has the same policy and fails alike, without sampling again.
    await expect(train(NEXT)).rejects.toMatchObject({ cause });
  });
  expect(stage.policy.bodiesTo('/v1/completions')).toHaveLength(1);
  expect(await readTrainRun(stage.store, stage.trainRun)).toBeNull();
});

test('a paused night starts no further cycle until it is resumed, and ignores messages for other nights', async () => {
  await open({ training: { cycles: 2 } });
  await stage.whileWorking(async () => {
    await trainAndSay(DATE, async (trainRun) => {
      const handle = stage.temporal.client.workflow.getHandle(`train-${trainRun}`);
      await handle.signal('stopTraining');
      await handle.signal('stopTraining', 'the-run-id-of-another-night');
      await stage.training.pause(trainRun);
    });
    const progress = await until(
      () => stage.training.progress(stage.trainRun),
      (seen) => seen?.done === 1,
    );
    expect(progress).toMatchObject({ status: 'paused' });
    expect(await groupsBegun()).toEqual([`${stage.trainRun}-000001-0`]);
    await stage.training.resume(stage.trainRun);
    expect(await stage.result()).toMatchObject({ status: 'done', done: 2 });
  });
});

const budget = (change: NightBudget) => () => stage.training.setBudget(stage.trainRun, change);

test.each([
  ['is told to stop', () => stage.training.stop(stage.trainRun), 'does not replace'],
  ['has used up its time', budget({ hours: 0 }), 'does not replace'],
  [
    'has used up its money',
    budget({ costUsd: 0 }),
    'was not judged: the cost budget of the night is used up',
  ],
])(
  'a night that %s ends after its current cycle, and the next one trains the rest',
  async (_, say, decision) => {
    await open({ training: { cycles: 2 } });
    await stage.whileWorking(async () => {
      await trainAndSay(DATE, say);
      expect(await stage.result()).toMatchObject({ status: 'done', done: 1 });
      expect((await readNight(stage.store, stage.trainRun, DATE))?.decision).toContain(decision);
      expect(await train(NEXT)).toMatchObject({ done: 3, cycles: { first: 2, last: 3 } });
    });
  },
);

test('a night that cannot pay for a whole group starts no further cycle, and is not judged', async () => {
  await open({ training: { cycles: 3 } });
  await stage.whileWorking(async () => {
    await trainAndSay(DATE, budget({ costUsd: 0.001 }));
    expect(await stage.result()).toMatchObject({ status: 'done', done: 2 });
  });
  expect(await cycles()).toMatchObject([
    { verdicts: { correct: 1, wrong: 1 } },
    { verdicts: { ungraded: 2 } },
  ]);
  expect((await readNight(stage.store, stage.trainRun, DATE))?.decision).toContain('was not judged');
});

test('a policy trained with reviews and drawn teams is tried with them', async () => {
  const policy = { describe: 'names' } as const;
  await open({ training: { recursion: { rounds: 2 }, pool: { adaptive: true }, policy } });
  await stage.whileWorking(() => train(DATE));
  const trials = stage.policy.bodiesTo('/v1/completions').filter(({ temperature }) => temperature !== 1);
  // Two teams, each with a plan and its review.
  expect(trials).toHaveLength(4);
  const tried = (await groupsBegun()).filter((id) => id?.includes('evaluation'));
  const draws = tried.map((id) => id?.replace(`${stage.trainRun}-000001-`, '').split('-')[0]);
  expect(draws.join(' ')).toBe('0 1 0 1');
});

describe('reviews with a baseline for each verdict of the reviewed answer', () => {
  /** Trains on two right and two wrong answers with the given reviews; returns the rewards and baselines. */
  const trainReviews = async (ofRight: string, ofWrong: string, training: TrainingInput = {}) => {
    const recursion = { rounds: 2, rootDiscount: 0.5, baseline: 'verdict', ...training.recursion } as const;
    await open({ training: { groupSize: 4, recursion } });
    stage.policy.writeEach(({ n, temperature, prompt }, place) => {
      if (temperature !== 1 || n === 4) return place % 2 === 0 ? REPLIES.right : REPLIES.wrong;
      return Buffer.from(prompt as readonly number[]).includes('41') ? ofWrong : ofRight;
    });
    await stage.whileWorking(() => train(DATE));
    return (await readCycleGroups(stage.store, stage.trainRun, 1)).map(({ rollouts }) =>
      rollouts.map(({ reward, baseline }) => [reward, baseline]),
    );
  };

  // A right answer that a review spoils earns as much as a wrong one that a review mends.
  const swapped = [
    [0.75, 0.75, 0.75, 0.75].map((reward) => [reward, undefined]),
    [0.5, 1, 0.5, 1].map((reward, index) => [reward, index % 2 === 0 ? 'correct' : 'wrong']),
  ];

  test('teach nothing if all reviews of a verdict earn the same', async () => {
    expect(await trainReviews(REPLIES.wrong, REPLIES.right)).toEqual(swapped);
    expect(await cycles()).toMatchObject([{ update: null }]);
  });

  test('teach something if all are compared with each other instead', async () => {
    const byQuestion = swapped.map((round) => round.map(([reward]) => [reward, undefined]));
    const training = { recursion: { baseline: 'question' } } as const;
    expect(await trainReviews(REPLIES.wrong, REPLIES.right, training)).toEqual(byQuestion);
    expect(await cycles()).toMatchObject([{ update: expect.anything() as unknown }]);
  });
});

test('a trial stops when the money of the night is used up, and then nothing is judged', async () => {
  await open({ heldOut: 8, training: { budget: { costUsd: 0.056 } } });
  await stage.whileWorking(() => train(DATE));
  const { decision } = (await readNight(stage.store, stage.trainRun, DATE)) ?? {};
  expect(decision).toMatch(/was not judged: .*, with the prompted Conductor tried on [4-7] of 8 held-out/);
  expect((await groupsBegun()).length).toBeLessThan(1 + 8 + 8);
});

test('a night whose trainer fails leaves what serves unchanged, and the next one trains its cycle', async () => {
  await open({});
  stage.trainer[UPDATE] = () =>
    Promise.reject(ApplicationFailure.nonRetryable('the loss is NaN', 'Trainer.StepFailed'));
  const failed = stage.whileWorking(() => train(DATE));
  await expect(failed).rejects.toMatchObject({ cause: { cause: { type: 'Trainer.StepFailed' } } });
  expect((await readServing(stage.store)).serving).toBeNull();
  const whole = standInTrainer((model) => stage.policy.known.add(model));
  Object.assign(stage.trainer, whole);
  const night = await stage.whileWorking(() => train(NEXT));
  expect(night).toMatchObject({ done: 1, cycles: { first: 1, last: 1 } });
});

test("a night that does not fit into its trainer's memory buys nothing, and says why", async () => {
  await open({});
  const lack = 'Training on GPU 1 of 1 needs 145.2 GB, but there are only 80.0';
  stage.trainer[PREFLIGHT] = () =>
    Promise.reject(ApplicationFailure.nonRetryable(lack, 'Trainer.OutOfMemory'));
  const failed = stage.whileWorking(() => train(DATE));
  await expect(failed).rejects.toMatchObject({ cause: { cause: { message: lack } } });
  expect(stage.policy.bodiesTo('/v1/completions')).toEqual([]);
});

test('a night with a long history continues as new, with the same result', async () => {
  const facts = async () =>
    (await cycles()).map(({ cycle, checkpoint, rewardMean, heldOut }) => {
      return [cycle, checkpoint.replace(stage.trainRun, ''), rewardMean, heldOut];
    });
  const training = { cycles: 3, evaluateEvery: 2, seed: 3 };
  await open({ training });
  await stage.whileWorking(() => train(DATE));
  const whole = await facts();
  const { rewards, best, spentNanoUsd } = await stage.result();
  await stage.close();

  const server = await startImpatientServer(60);
  await open({ training, address: server.address });
  const { runId } = await stage.whileWorking(async () => {
    const night = await stage.training.start({ trainRun: stage.trainRun, date: DATE });
    const same = { rewards, spentNanoUsd, best: { heldOut: best?.heldOut } };
    expect(await stage.result()).toMatchObject({ done: 3, ...same });
    return night;
  });
  expect(await facts()).toEqual(whole);
  const last = await stage.temporal.client.workflow.getHandle(nightWorkflowId(stage.trainRun)).describe();
  expect(last.runId).not.toBe(runId);
  await stage.close();
  await server.stop();
  await open({});
});
