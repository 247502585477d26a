import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../../src/errors';
import { gatherExamples } from '../../../src/cli/train/examples';
import { readCheckpoint } from '../../../src/cli/train/checkpoints';
import { budgetNight, pauseNight } from '../../../src/cli/train/night';
import { poolAt } from '../folder';
import { freshFolder } from '../../local/fresh-folder';

let config: string;
beforeAll(async () => {
  config = join(await freshFolder(), 'conductor.yaml');
  await writeFile(config, JSON.stringify(poolAt('http://127.0.0.1:9')));
});

const EXAMPLES = { out: 'examples.jsonl', questions: 1, samples: 1 };

test.each([
  ['choose a source: --from-prompted or --from-runs', () => gatherExamples(EXAMPLES)],
  ['there is nothing to change', () => budgetNight({})],
  ['"No Name" is not the name of a training run', () => pauseNight({ config, run: 'No Name' })],
  ['"a/b/c" names no checkpoint', () => readCheckpoint('a/b/c', 'nightly')],
])('refuses before anything is started: %s', async (words, command) => {
  const refused = Promise.resolve().then<unknown>(command);
  await expect(refused).rejects.toBeInstanceOf(UsageError);
  await expect(refused).rejects.toThrow(words);
});
