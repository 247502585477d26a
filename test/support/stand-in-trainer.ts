import { createHash } from 'node:crypto';
import { sixDigits } from '../../src/training/names';
import * as names from '../../src/training/names';
import type { Checkpoint, TrainerActivities } from '../../src/training/trainer-contract';
import { payload as exported } from '../training/golden/exportResult.json';
import { payload as updated } from '../training/golden/updateResult.json';

/**
 * Makes a trainer without Python, for tests of what a night does with its results. A checkpoint's digests derive from
 * its name; once published, it is known to the policy server.
 */
export function standInTrainer(publish: (model: string) => void): TrainerActivities {
  return {
    [names.INIT]: ({ trainRun }) => answer(made(trainRun, 'base')),
    [names.WARM_START]: ({ trainRun, name }) => answer({ ...made(trainRun, name), loss: 0.4, seconds: 2 }),
    [names.PREFLIGHT]: () => answer({}),
    [names.UPDATE]: ({ trainRun, cycle }) =>
      answer({ ...made(trainRun, sixDigits(cycle)), metrics: updated.metrics }),
    [names.PUBLISH]: ({ checkpoint: { trainRun, name } }) => {
      const model = `${trainRun}-${name}`;
      publish(model);
      return answer({ model, logprobGap: 0 });
    },
    [names.SCORE]: () => answer({ own: [2e-6, 4e-6], parent: [0.02, 0.04] }),
    [names.RETIRE]: () => answer({ retired: [] }),
    [names.COLLECT]: () => answer({ removed: [], bytes: 0 }),
    [names.EXPORT]: ({ directory }) => answer({ ...exported, directory }),
  };
}

function made(
  trainRun: string,
  name: string,
): { readonly checkpoint: Checkpoint; readonly replayed: boolean } {
  const folder = `${trainRun}/${name}/model`;
  const weightsSha256 = sha256(`${trainRun}/${name}`);
  const tokenizerSha256 = sha256(trainRun);
  return {
    checkpoint: { trainRun, name, folder, kind: 'model', weightsSha256, tokenizerSha256, vocabulary: 400 },
    replayed: false,
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function answer<T>(value: T): Promise<T> {
  return Promise.resolve(value);
}
