import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { readCheckpointManifest, readTrainRun } from '../../../src/training/client';
import { EXPORT, UPDATE, WARM_START } from '../../../src/training/names';
import { endedWith } from '../command';
import { openScriptedTraining, REPLIES } from '../../support/scripted-training';
import { openTrainFolder } from '../../support/train-commands';
import { useOnce } from '../../support/use';

// Moves checkpoints out of a training run and into another. test/trainer/take-in-and-out uses the Python trainer.

jest.setTimeout(300_000);

const stage = useOnce(() => openScriptedTraining({ training: { questions: 2, maxDraws: 2, groupSize: 4 } }));
const folder = useOnce(() => openTrainFolder(stage));
beforeAll(() => stage.whileWorking(() => stage.train()));

test('a cycle is shown from the store, as text and as JSON', async () => {
  const { trainRun } = stage;
  const shown = await folder.train('show', '1');
  expect(shown.stdout).toContain(`${trainRun} cycle 1  night 2026-01-10\n│  checkpoint ${trainRun}/000001`);
  const { stdout } = await folder.train('show', '1', '--json');
  const { groups } = JSON.parse(stdout) as { groups: { rollouts: unknown[] }[] };
  expect(groups.map(({ rollouts }) => rollouts.length)).toEqual([4, 4]);
  const never = `there is no cycle 7 of training run ${trainRun}`;
  expect(await folder.train('show', '7')).toMatchObject(endedWith(2, never));
});

test('status names only what is missing for a night', async () => {
  const { stdout } = await stage.whileWorking(() => folder.train('status', '--json'));
  const { missing } = JSON.parse(stdout) as { missing: unknown };
  const [gone, few] = ['whose weights are not in /', 'too few for the gate'].map(
    (words) => expect.stringContaining(words) as unknown,
  );
  expect(missing).toEqual([
    { what: 'Questions', state: 'note', text: few },
    { what: 'Checkpoints', state: 'broken', text: gone },
  ]);
});

test('a training run is plotted', async () => {
  expect(await folder.train('plot', '--out', 'pictures')).toMatchObject({ code: 0 });
  const files = await readdir(join(folder.path, 'pictures'));
  expect(files).toEqual(['effort.svg', 'learning.svg', 'report.html', 'report.md']);
  const report = await readFile(join(folder.path, 'pictures', 'report.md'), 'utf8');
  expect(report).toContain('The mean reward went from');
  expect(report).toMatch(/^\| Format: plans \|( [\d.]+% \|){4}$/m);
});

test('right plans train another run, whose first night starts from them, and can be exported as a model', async () => {
  const run = `${stage.trainRun}-imitation`;
  const teach = jest.spyOn(stage.trainer, WARM_START);
  const lesson = ['--from-traces', stage.trainRun, '--steps', '2', '--learning-rate', '1e-3', '--batch', '2'];
  const [learned, exported] = await stage.whileWorking(async () => {
    const learned = await folder.train('warm-start', '--run', run, ...lesson);
    return [learned, await folder.train('export', learned.stdout.trim(), 'exported')];
  });
  expect(learned).toMatchObject({ code: 0 });
  const taught = { trainRun: run, steps: 2, learningRate: 1e-3, batch: 2 };
  expect(teach.mock.calls).toMatchObject([[taught]]);
  const id = learned.stdout.trim();
  expect(id).toMatch(/\/warm-[0-9a-f]{8}$/);
  const checkpoint = { trainRun: run, name: id.slice(run.length + 1) };
  expect(await readCheckpointManifest(stage.store, checkpoint)).toMatchObject({ prompt: 'compact' });
  expect(await readTrainRun(stage.store, run)).toMatchObject({ done: 0, checkpoint });
  expect(exported).toMatchObject({ code: 0 });
  expect(exported.stdout).toContain(join(folder.path, 'exported', 'model.safetensors'));
});

test.each(['export', 'status'] as const)('%s says when the trainer is lost', async (command) => {
  const { trainer, training, trainRun } = stage;
  let comeBack = (): void => undefined;
  const isBack = new Promise<void>((resolve) => (comeBack = resolve));
  // The trainer sends no heartbeat until then, so every attempt times out.
  const { [EXPORT]: write, [UPDATE]: learn } = trainer;
  trainer[EXPORT] = (request) => isBack.then(() => write(request));
  trainer[UPDATE] = (request) => isBack.then(() => learn(request));
  await stage.whileWorking(async () => {
    try {
      if (command === 'status') await training.start({ trainRun, date: '2026-01-11' });
      const told = command === 'status' ? folder.start('status') : folder.start('export', '1', 'lost');
      await told.hear(/The trainer was lost in attempt \d+: start it again/);
      comeBack();
      expect(await told.ended).toMatchObject({ code: 0 });
      if (command === 'status') await stage.result();
    } finally {
      comeBack();
    }
  });
  Object.assign(trainer, { [EXPORT]: write, [UPDATE]: learn });
});

test('status says why the last night failed', async () => {
  stage.policy.script(REPLIES.none);
  await expect(stage.whileWorking(() => stage.train('2026-01-12'))).rejects.toThrow();
  const { stdout } = await folder.train('status');
  expect(stdout).toMatch(/^failed {3}nothing can be learned from cycle \d: none of the \d replies of/m);
  expect(stdout).toMatch(/^plans {4}by the configured Conductor \(openai conductor\), whatever serves/m);
});

test('a refusal by the trainer is printed in its own words', async () => {
  const refusal = 'The folder /somewhere is not empty. Choose another one, or remove it.';
  stage.trainer[EXPORT] = () => Promise.reject(ApplicationFailure.nonRetryable(refusal, 'Trainer.Failed'));
  const refused = await stage.whileWorking(() => folder.train('export', '1', '.'));
  expect(refused).toMatchObject(endedWith(1, refusal));
});
