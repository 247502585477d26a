import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { renderPlan } from '../../../src';
import { QuestionSets } from '../../../src/evaluation/activities';
import { questionSetKey } from '../../../src/evaluation/definitions';
import { GENERIC_SUBTASK } from '../../../src/plan/plan';
import { keepLines } from '../../../src/store/records';
import { keepCheckpoint } from '../../../src/training/activities/close-cycle';
import {
  samplePlans,
  type SamplePlansRequest,
  type SamplePlansResult,
} from '../../../src/training/activities/sample-plans';
import { parseTrainable, resolveTraining } from '../../../src/training/config';
import type { TrainingInput } from '../../../src/training/config/schema';
import { promote, readCheckpointManifest } from '../../../src/training/client';
import { aManifest } from '../../support/a-manifest';
import { startScriptedPolicy } from '../../support/scripted-policy';
import { openStage, step } from '../../support/stage';
import { useOnce } from '../../support/use';
import { freshFolder } from '../../local/fresh-folder';

/*
 * A checkpoint must see a user's question, and the answer in a review, byte for byte as in training: with any setting
 * for worker descriptions, examples and subtasks, and whatever is configured by then.
 */

const QUESTION = 'What is 6 times 7?';
const PLAN = renderPlan({ steps: [step('b', 'Multiply.'), step('a', 'Check it.', [0])] }, ['a', 'b', 'c']);
const FEW_SHOT = `- question: How high is a tower whose shadow is twice its height?
  reasoning: |-
    One derives it, with "quotes" of its own;
    another one checks.
  plan:
    steps:
      - { worker: "2", subtask: Derive it., sees: [] }
      - { worker: "9", subtask: Check it., sees: [0] }
`;

const policy = useOnce(() => startScriptedPolicy());
const stage = useOnce(() => openStage({ config: { conductor: { provider: 'policy' } } }));
let file: string;
beforeAll(async () => {
  file = join(await freshFolder(), 'few-shot.yaml');
  writeFileSync(file, FEW_SHOT);
});

type Told = Omit<NonNullable<TrainingInput['policy']>, 'examples'> & { readonly examples?: string };

/** Returns a checkpoint's prompts for a question in training and in service, given its training settings. */
async function promptsOf(name: string, told: Told, subtasks = true) {
  const { store } = stage;
  const data = { train: 'train.jsonl', heldOut: 'held-out.jsonl' };
  const training = {
    plan: { subtasks },
    data,
    base: { kind: 'tiny' },
    policy: { baseUrl: policy.baseUrl, ...told },
  };
  const parsed = parseTrainable({ ...stage.config, training } as never);
  const settings = resolveTraining(parsed);
  const { trainRun, folder, kind, weightsSha256, tokenizerSha256, vocabulary } = aManifest();
  const checkpoint = { trainRun, name, folder, kind, weightsSha256, tokenizerSha256, vocabulary };
  await keepCheckpoint(store, { checkpoint, model: name, settings });
  policy.known.add(name);
  policy.script(PLAN);
  const asked = { id: 'q', question: QUESTION, answer: '42', grader: 'number' };
  const { key: set } = await keepLines(store, [asked], questionSetKey);
  const request: SamplePlansRequest = {
    trainRun,
    cycle: policy.requests.length + 1,
    draw: 0,
    round: 0,
    purpose: 'training',
    plans: 1,
    seed: 1,
    temperature: 1,
    question: { set, index: 0 },
    checkpoint: { trainRun, name },
    workers: settings.run.workers,
    maxSteps: settings.run.limits.steps,
    policy: settings.policy,
  };
  const dependencies = { store, questions: new QuestionSets(store), config: parsed };
  const sample = (change: Partial<SamplePlansRequest> = {}): Promise<SamplePlansResult> =>
    new MockActivityEnvironment().run(() => samplePlans(dependencies, { ...request, ...change }));
  const { plans } = await sample();
  await promote(store, { trainRun, name }, { reason: 'a test', by: 'person' });
  const { rounds } = await stage.whileWorking(() =>
    stage.client.solve({ question: QUESTION, limits: { depth: 1 } }),
  );
  const run = rounds[0]?.plan ?? { steps: [] };
  await sample({ round: 1, earlier: [{ plan: run, answer: rounds[0]?.answer ?? '' }] });
  const [trained, served, reviewed, taught] = policy
    .bodiesTo('/v1/completions')
    .filter(({ model }) => model === name)
    .map(({ prompt }) => Buffer.from(prompt as number[]).toString());
  const manifest = await readCheckpointManifest(store, { trainRun, name });
  return { trained, served, reviewed, taught, manifest, sampled: plans[0]?.plan, run };
}

test.each<[name: string, told: Told, subtasks: boolean]>([
  ['no-examples', { examples: 'none' }, true],
  ['in-domain', { examples: 'in-domain' }, true],
  ['mixed', { examples: 'mixed' }, true],
  ['out-of-domain', { examples: 'out-of-domain' }, true],
  ['as-usual', {}, true],
  ['compact', { prompt: 'compact' }, true],
  ['names-any', { describe: 'names', access: 'any' }, true],
  ['notes', { describe: 'notes', examples: 'none' }, true],
  ['no-subtasks', {}, false],
  ['no-subtasks-compact', { prompt: 'compact' }, false],
])('%s', async (name, told, subtasks) => {
  const { trained, served, reviewed, taught, sampled, run } = await promptsOf(name, told, subtasks);
  expect(trained).toContain(QUESTION);
  expect(served).toBe(trained);
  expect(taught).toContain(QUESTION);
  expect(reviewed).toBe(taught);
  expect(run).toEqual(sampled);
  const isGeneric = sampled?.steps.every(({ subtask }) => subtask === GENERIC_SUBTASK);
  expect(isGeneric).toBe(!subtasks);
});

test('a checkpoint keeps the examples of a file, and uses them even after the file has changed', async () => {
  const { trained, served, manifest } = await promptsOf('own', { examples: file });
  expect(trained).toContain('another one checks.\nmodel_id = [2, 0]\nsubtasks = ["Derive it.", "Check it."]');
  expect(trained).not.toContain('river');
  expect(served).toBe(trained);
  writeFileSync(file, FEW_SHOT.replace('tower', 'tree'));
  expect(manifest.examples).toMatchObject([{ question: expect.stringContaining('tower') as string }]);
  const { trained: later } = await promptsOf('later', { examples: file });
  expect(later).toContain('tree');
  await promote(
    stage.store,
    { trainRun: manifest.trainRun, name: 'own' },
    { reason: 'a test', by: 'person' },
  );
  await stage.whileWorking(() => stage.client.solve({ question: QUESTION }));
  const { prompt } = policy.bodiesTo('/v1/completions').at(-1) ?? {};
  expect(Buffer.from(prompt as number[]).toString()).toBe(trained);
});
