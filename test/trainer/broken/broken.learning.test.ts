import { questionSet } from '../../../research/world/questions';
import { SMALL_WORLD } from '../../../research/world/world';
import { type NightProgress, scheduleNights, TrainingPlugin } from '../../../src/training';
import { promote, readServing } from '../../../src/training/client';
import { openTrainingStage, type TrainingStage } from '../support/training-stage';
import { breakNight } from './broken-night';
import { FAULTS } from './faults';
import { openSpoilingProxy, type SpoilingProxy } from './spoiling-proxy';

const TRAIN_RUN = 'broken';
const SERVED = { trainRun: TRAIN_RUN, name: '000001' };
const [{ question } = { question: '' }] = questionSet(SMALL_WORLD, 'heldOut', 1, 5);

let proxy: SpoilingProxy;
let stage: TrainingStage;

beforeAll(async () => {
  proxy = await openSpoilingProxy();
  stage = await openTrainingStage({
    world: SMALL_WORLD,
    seed: 3,
    warmStartSteps: 60,
    training: {
      run: TRAIN_RUN,
      questions: 2,
      groupSize: 8,
      maxDraws: 8,
      cycles: 1,
      totalCycles: 20,
      gate: { samples: 1 },
      policy: {
        baseUrl: proxy.url,
        prompt: 'compact',
        maxPromptTokens: 256,
        maxOutputTokens: 128,
        timeout: '1m',
        patience: '10s',
      },
    },
  });
  proxy.leadTo(stage.policyUrl);
  await trainNight('2026-01-01');
  await promote(stage.store, SERVED, { reason: 'a test', by: 'person' });
  await scheduleNights(stage.temporal.client, {
    trainRun: TRAIN_RUN,
    taskQueue: stage.taskQueue,
    cron: '30 3 * 2 *',
    timeZone: 'UTC',
    jitterMs: 0,
    timeLimitMs: 600_000,
  });
}, 300_000);

afterAll(async () => {
  await stage.close();
  await proxy.close();
});

/** Runs a worker whose solves are planned by the serving checkpoint, asked directly and not through the proxy. */
function working<T>(work: () => Promise<T>): Promise<T> {
  const { config, store, policyUrl } = stage;
  const conductor = { provider: 'policy', baseUrl: policyUrl } as const;
  return stage.whileWorking(work, {
    plugins: [new TrainingPlugin({ config: { ...config, conductor }, store })],
  });
}

function trainNight(date: string): Promise<NightProgress> {
  return working(async () => {
    const { id } = await stage.training.start({ trainRun: TRAIN_RUN, date });
    return stage.temporal.client.workflow.getHandle(id).result() as Promise<NightProgress>;
  });
}

// Each fault gets the night of another day.
const dated = FAULTS.map((fault, index) => ({ ...fault, date: `2026-02-0${index + 1}` }));

test.each(dated)(
  '$what',
  async ({ type, says, date, inflict }) => {
    const before = await readServing(stage.store);
    const mend = await inflict({ stage, proxy, served: SERVED });
    try {
      const { night, solved } = await working(async () => ({
        night: await breakNight(stage, date),
        solved: await stage.client.solve({ question }),
      }));
      expect(night).toMatchObject({ type, message: expect.stringMatching(says) as unknown });
      expect(night.message).toContain(`night ${date} failed`);
      expect(night.note).toContain(night.message);
      expect(await readServing(stage.store)).toEqual(before);
      expect(solved).toMatchObject({ status: 'completed', checkpoint: 'broken/000001' });
      // The content does not matter: a policy this young may write nonsense.
      expect(solved.calls[0]).toMatchObject({ purpose: 'plan', model: 'broken-000001' });
      expect(solved.calls[0]?.usage?.outputTokens).toBeGreaterThan(0);
    } finally {
      await mend();
    }
  },
  300_000,
);

test('once every fault is fixed, the next night trains', async () => {
  expect(await trainNight('2026-03-01')).toMatchObject({ status: 'done', warning: null });
}, 300_000);
