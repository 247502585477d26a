import { ApplicationFailure } from '@temporalio/common';
import { COLLECT, RETIRE } from '../../../src/training/names';
import { promote } from '../../../src/training/client';
import { openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';

jest.setTimeout(300_000);

let stage: ScriptedTraining;
afterEach(() => stage.close());

const train = (date: string) => stage.whileWorking(() => stage.train(date));

test('a night asks to keep only what it, serving and a rollback need', async () => {
  stage = await openScriptedTraining({ training: { cycles: 3, keep: { last: 0 } } });
  const { store, trainRun, trainer } = stage;
  const asked: [string, readonly string[]][] = [];
  trainer[RETIRE] = ({ keep }) => {
    asked.push(['retire', keep]);
    return Promise.resolve({ retired: [] });
  };
  trainer[COLLECT] = ({ keep }) => {
    asked.push(['collect', keep]);
    return Promise.resolve({ removed: [], bytes: 0 });
  };
  await train('2026-01-10');
  expect(asked).toEqual([
    ['retire', ['base', '000001']],
    ['retire', ['base', '000002']],
    ['retire', ['base', '000003']],
    ['collect', ['000003', 'base']],
  ]);

  for (const name of ['base', '000003'])
    await promote(store, { trainRun, name }, { reason: '', by: 'person' });
  asked.length = 0;
  await train('2026-01-11');
  expect(asked.slice(1)).toEqual([
    ['retire', ['000003', '000005', 'base']],
    ['retire', ['000003', '000006', 'base']],
    ['collect', ['000003', '000006', 'base']],
  ]);
});

test('a failed cleanup does not harm a night, and is reported', async () => {
  stage = await openScriptedTraining();
  const { trainer } = stage;
  const refuse = () => Promise.reject(ApplicationFailure.nonRetryable('It is not mine.', 'Trainer.Failed'));
  trainer[RETIRE] = refuse;
  const retired = 'old checkpoints were not unloaded from the policy server: It is not mine.';
  expect(await train('2026-01-10')).toMatchObject({ status: 'done', warning: retired });
  trainer[COLLECT] = refuse;
  const collected = "old checkpoints were left on the trainer's disk: It is not mine.";
  expect(await train('2026-01-11')).toMatchObject({ status: 'done', done: 2, warning: collected });
});
