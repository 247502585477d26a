import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import { z } from 'zod';
import { readRecord, writeRecord } from '../../src/store/records';
import { ArtifactFolder } from '../../src/training/artifacts';
import type { TrainableInput } from '../../src/training/config/schema';
import { runCommand, startUp, warmStartArguments } from '../demo/town';
import { type PythonProgram, runPython } from '../support/programs';
import { toJsonLines } from '../world/questions';
import { questionSet, SINGLES } from './questions';
import { PRECISION, type Recipe, type School } from './recipe';
import { schoolExamples, type Schooling } from './workers';

/** Enough for a worker to see each example at most a few times. */
const EXAMPLES = 60_000;

/** Returns the folder of a worker's model after its training. */
export function modelOf(folder: string, { id }: Pick<Schooling, 'id'>): string {
  return join(folder, 'exported', id);
}

/** File with the recipe of a folder's workers and seeds. */
const RECIPE = 'recipe.json';

/**
 * Binds a folder to one recipe, since all its results go into one table. Only the device itself may differ.
 *
 * @throws RangeError if the folder belongs to another recipe
 */
export async function claimFolder(folder: string, recipe: Recipe): Promise<void> {
  const files = new ArtifactFolder(folder);
  const claimed = await readRecord(files, RECIPE, z.record(z.string(), z.json()));
  if (claimed === null) return writeRecord(files, RECIPE, recipe);
  const own = JSON.parse(JSON.stringify(recipe)) as typeof claimed;
  const other = Object.keys({ ...claimed, ...own }).filter(
    (part) => part !== 'device' && !isDeepStrictEqual(claimed[part], own[part]),
  );
  if (other.length === 0) return;
  throw new RangeError(
    `${folder} contains workers and seeds of another recipe (${other.join(', ')}): give another one with --folder.`,
  );
}

/**
 * Trains workers by `train warm-start`, each in its own training run, and exports their models. Existing models stay.
 * One worker trains per core; those that continue from another's model train after it.
 */
export async function teachWorkers(
  folder: string,
  recipe: Recipe,
  tell: (line: string) => void,
): Promise<void> {
  await claimFolder(folder, recipe);
  const missing = recipe.school.workers.filter((schooling) => !existsSync(modelOf(folder, schooling)));
  for (const isLater of [false, true]) {
    const pupils = missing.filter(({ parent }) => (parent !== undefined) === isLater);
    const classes = Array.from({ length: availableParallelism() }, (_class, place) =>
      pupils.filter((_pupil, index) => index % availableParallelism() === place),
    );
    await Promise.all(classes.map((each) => teachClass(folder, recipe, each, tell)));
  }
}

async function teachClass(
  folder: string,
  recipe: Recipe,
  pupils: readonly Schooling[],
  tell: (line: string) => void,
): Promise<void> {
  const [first] = pupils;
  if (first === undefined) return;
  const room = join(folder, `class-of-${first.id}`);
  await mkdir(room, { recursive: true });
  await writeFile(join(room, 'questions.jsonl'), toJsonLines(questionSet(SINGLES, 'train', 12, 'school')));
  const base =
    first.parent === undefined
      ? recipe.school.base
      : { kind: 'folder' as const, path: modelOf(folder, { id: first.parent }) };
  const server = await servePolicies(room, recipe.device);
  try {
    const { url } = z.object({ url: z.string() }).parse(server.ready);
    const config = configOf({ ...recipe.school, base }, recipe.device, `${url}/v1`);
    await writeFile(join(room, 'conductor.yaml'), stringify(config));
    const up = await startUp(room, 'train', 'up');
    try {
      for (const pupil of pupils) tell(await teach(room, recipe.school, pupil, modelOf(folder, pupil)));
    } finally {
      await up.stop();
    }
  } finally {
    await server.stop();
  }
}

async function teach(
  room: string,
  { batch, learningRate, warmupSteps }: School,
  pupil: Schooling,
  model: string,
): Promise<string> {
  const { id, steps } = pupil;
  const began = performance.now();
  const file = `${id}.jsonl`;
  await writeFile(join(room, file), toJsonLines(schoolExamples(pupil, EXAMPLES)));
  const how = warmStartArguments(file, { steps, batch, learningRate, warmupSteps });
  const checkpoint = await runCommand(room, [...how, '--run', id]);
  const exported = join(room, 'exported', id);
  await runCommand(room, ['train', 'export', checkpoint, exported]);
  await mkdir(dirname(model), { recursive: true });
  await rename(exported, model);
  return `${id} learned in ${Math.round((performance.now() - began) / 1000)} s`;
}

/** Starts a policy server, since `train up` leaves it to vLLM if the device is a GPU. */
function servePolicies(room: string, device: Recipe['device']): Promise<PythonProgram> {
  const places = [
    '--artifacts',
    join(room, '.conductor/artifacts'),
    '--checkpoints',
    join(room, 'checkpoints'),
  ];
  return runPython('policy_server', ['--port', '0', '--device', device, ...places]);
}

function configOf(
  { base, tuning, batch }: School,
  device: Recipe['device'],
  policyUrl: string,
): TrainableInput {
  return {
    conductor: { provider: 'policy' },
    workers: [{ id: 'nobody', provider: 'openai', model: 'nobody', baseUrl: 'http://127.0.0.1:9/v1' }],
    training: {
      base,
      data: { train: 'questions.jsonl', heldOut: 'questions.jsonl' },
      policy: { baseUrl: policyUrl, maxPromptTokens: 256, maxOutputTokens: 128 },
      questions: 4,
      groupSize: 16,
      trainer: { device, precision: PRECISION[device], tuning, microBatch: batch },
    },
  };
}
