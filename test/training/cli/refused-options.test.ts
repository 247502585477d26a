import { join } from 'node:path';
import { UsageError } from '../../../src/cli/ending';
import { gatherExamples } from '../../../src/training/cli/examples';
import { readCheckpoint } from '../../../src/training/cli/checkpoints';
import { budgetNight, pauseNight, scheduleTraining, startNight } from '../../../src/training/cli/night';
import { type Folder, makeFolder, poolAt } from '../../cli/folder';

let folder: Folder;
let config: string;

beforeAll(async () => {
  folder = await makeFolder();
  config = join(folder.path, 'conductor.yaml');
  await folder.write('conductor.yaml', poolAt('http://127.0.0.1:9'));
});

afterAll(() => folder.remove());

const EXAMPLES = { out: 'examples.jsonl', questions: 1, samples: 1 };

test.each([
  ['--at "25:00" is no time of day', () => scheduleTraining({ jitter: 0, at: '25:00' })],
  ['--at "3:5" is no time of day', () => scheduleTraining({ jitter: 0, at: '3:5' })],
  ['"Mars/Olympus" is unknown', () => scheduleTraining({ jitter: 0, at: '03:30', timezone: 'Mars/Olympus' })],
  ['--date "2026-02-30" is no date', () => startNight({ date: '2026-02-30' })],
  ['--from "../x" names no checkpoint', () => startNight({ from: '../x' })],
  ['choose a source: --from-prompted or --from-runs', () => gatherExamples(EXAMPLES)],
  ['there is nothing to change', () => budgetNight({})],
  ['"No Name" is no training run', () => pauseNight({ config, run: 'No Name' })],
  ['"a/b/c" names no checkpoint', () => readCheckpoint('a/b/c', 'nightly')],
])('refused before anything is begun: %s', async (words, command) => {
  const refused = Promise.resolve().then<unknown>(command);
  await expect(refused).rejects.toBeInstanceOf(UsageError);
  await expect(refused).rejects.toThrow(words);
});
