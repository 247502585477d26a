import { openScriptedTraining, REPLIES, type ScriptedTraining } from '../../support/scripted-training';

let stage: ScriptedTraining;
const open = async (minFormatRate: number): Promise<void> => {
  stage = await openScriptedTraining({
    training: { minFormatRate, questions: 2, maxDraws: 2, groupSize: 4 },
  });
  stage.policy.writeEach(
    (_, place) => [REPLIES.none, REPLIES.right, REPLIES.wrong, REPLIES.right][place] ?? '',
  );
};
afterEach(() => stage.close());

const asked = (): number => stage.providers.log.filter(({ model }) => model === 'a').length;

test('a policy that writes too few plans costs no worker calls, and the night says how to get a better one', async () => {
  await open(0.95);
  const night = stage.whileWorking(() => stage.train());
  await expect(night).rejects.toMatchObject({
    cause: {
      type: 'Night.CannotLearn',
      message: expect.stringMatching(
        /^only 6 of 8 replies \(75 %\) of \S+\/base are plans, and training\.minFormatRate is 0\.95: no worker was asked.*train warm-start/,
      ) as string,
    },
  });
  expect(asked()).toBe(0);
});

test('plans that pass the check are carried out in the first cycle, without being sampled again', async () => {
  await open(0.75);
  expect(await stage.whileWorking(() => stage.train())).toMatchObject({ status: 'done', done: 1 });
  expect(asked()).toBeGreaterThan(0);
  const sampled = stage.policy.bodiesTo('/v1/completions').filter(({ temperature }) => temperature === 1);
  expect(sampled.map(({ n }) => n)).toEqual([4, 4]);
});
