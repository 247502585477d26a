import { readNight, readTrainRun } from '../../../src/training/activities/records';
import type { TrainingInput } from '../../../src/training/config/schema';
import { gateKey } from '../../../src/training/store-keys';
import {
  openScriptedTraining,
  REPLIES,
  type ScriptedTraining,
  type ScriptedTrainingOptions,
} from '../../support/scripted-training';

const DATE = '2026-01-10';
const NEXT = '2026-01-11';

let stage: ScriptedTraining;
const open = async (options: ScriptedTrainingOptions): Promise<void> => {
  stage = await openScriptedTraining(options);
};
afterEach(() => stage.close());

test('trials that choose where the next night starts make the gate stricter', async () => {
  const judgementOf = async (training: TrainingInput): Promise<unknown> => {
    await open({ heldOut: 5, training: { cycles: 2, evaluateEvery: 1, ...training } });
    await stage.whileWorking(() => stage.train(DATE));
    const record = await stage.store.read(gateKey(stage.trainRun, DATE));
    return (JSON.parse(record?.toString() ?? '{}') as { judgement?: unknown }).judgement;
  };
  expect(await judgementOf({ continueFrom: 'best' })).toBe(3);
  await stage.close();
  expect(await judgementOf({ continueFrom: 'serving' })).toBe(1);
});

test('after a night that made the policy worse, the next one continues from the serving checkpoint', async () => {
  await open({ heldOut: 5 });
  stage.policy.writeEach(({ model, temperature }, place) => {
    const isRight = temperature === 1 ? place % 2 === 0 : model === `${stage.trainRun}-000001`;
    return isRight ? REPLIES.right : REPLIES.wrong;
  });
  await stage.whileWorking(async () => {
    await stage.train(DATE);
    await stage.train(NEXT);
  });
  const { decision, checkpoint } = (await readNight(stage.store, stage.trainRun, NEXT)) ?? {};
  expect(checkpoint).toMatchObject({ name: '000002' });
  expect(decision).toContain(`. The next night continues from ${stage.trainRun}/000001`);
  expect(await readTrainRun(stage.store, stage.trainRun)).toMatchObject({ checkpoint: { name: '000001' } });
});
