import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import {
  broken,
  type CheckedPlace,
  runCheck,
  type Finding,
  fine,
  type Looked,
  note,
  NOT_ASKED,
} from '../kit/finding';
import { configuredStore } from '../../store/open-store';
import { say } from '../kit/terminal';
import { isPolled } from '../../client';
import { viaProxy } from '../../local/temporal-route';
import { openFetch } from '../../network/fetch';
import {
  engineVersion,
  INSTALL_COMPUTE_ENGINE,
  INSTALL_MATH_VERIFY,
  openSandbox,
  pythonPath,
} from '../../grading/grade';
import { reasonOf } from '../../errors';
import { isOurImage, runProgram } from '../../runtime/start-program';
import { counted } from '../../trace/describe';
import {
  openFiles,
  readCheckpointManifest,
  readQuestions,
  readRows,
  readTrainRun,
  sizeOfWeights,
} from '../../training/client';
import { describeSmallSet, trainingExampleSchema } from '../../training/definitions';
import { checkpointId, serversOf } from '../../training/names';
import type { TrainingConfig } from '../../training/config';
import { FEWEST_VALUES } from '../../statistics/statistics';
import { checkGpu } from './check-gpu';
import type { TrainingSession } from './session';

/** `temporal` is null if no server runs, so no trainer can listen. */
type NightCheck = Pick<TrainingSession, 'store' | 'trainRun'> & { readonly temporal: Client | null };

/** Checks what nights need beside a worker, for `doctor`. */
export async function checkNight(
  training: TrainingConfig,
  { config, server, isStoreTrusted }: CheckedPlace,
): Promise<readonly Finding[]> {
  if (!isStoreTrusted) return [{ what: 'Training', ...NOT_ASKED }];
  let connection: Connection | null = null;
  try {
    connection =
      server.connection === undefined ? null : await Connection.connect(viaProxy(server.connection));
    const store = configuredStore(config);
    const temporal = connection && new Client({ connection, namespace: server.namespace });
    const parts = checkNightParts(training, { store, temporal, trainRun: training.run });
    return (await Promise.all([parts, checkGpu(training, config)])).flat();
  } catch (error) {
    return [{ what: 'Training', ...broken(reasonOf(error)) }];
  } finally {
    await connection?.close();
  }
}

/** Checks everything that a night needs, within some seconds. */
export async function checkNightParts(training: TrainingConfig, place: NightCheck): Promise<Finding[]> {
  const questions = readQuestions(training.data);
  // The check of the questions reports why they cannot be read.
  const { train, heldOut } = await questions.catch(() => ({ train: [], heldOut: [] }));
  const graders = new Set([...train, ...heldOut].map(({ grader }) => grader));
  const checks: Record<string, Promise<Looked>> = {
    Questions: checkQuestions(training, questions),
    ...(graders.has('math') && { Mathematics: checkMathematics() }),
    ...(graders.has('code') && { Code: checkCode() }),
    Trainer: checkTrainer(training, place),
    'Policy server': checkPolicyServers(training),
    Checkpoints: checkCheckpoints(training, place),
  };
  const tooLate = broken(`no answer within ${TIMEOUT_MS / 1000} s: try again`);
  const late = pause(TIMEOUT_MS, tooLate, { ref: false });
  const found = Object.entries(checks).map(([what, check]) =>
    runCheck(what, () => Promise.race([check, late])),
  );
  return (await Promise.all(found)).flat();
}

/** Finds what would make a night of this session wait or fail. */
export async function findMissing({ config: { training }, ...place }: TrainingSession): Promise<Finding[]> {
  const parts = training === undefined ? [] : await checkNightParts(training, place);
  return parts.filter(({ state }) => state !== 'fine');
}

export async function sayMissing(session: TrainingSession): Promise<void> {
  for (const { what, state, text } of await findMissing(session)) {
    say(`${state === 'broken' ? 'Missing' : 'Note'}: ${what}: ${text}.`);
  }
}

const TIMEOUT_MS = 4_000;

async function checkQuestions(
  { data, warmStart }: TrainingConfig,
  questions: ReturnType<typeof readQuestions>,
): Promise<Looked> {
  const { train, heldOut } = await questions;
  const held = `${heldOut.length} held out`;
  const more =
    warmStart === undefined
      ? ''
      : `, ${counted((await readRows(warmStart.examples, trainingExampleSchema)).length, 'example')}`;
  if (heldOut.length < FEWEST_VALUES) {
    return note(
      `${held} in ${data.heldOut} are too few for the gate to promote anything: at least ${FEWEST_VALUES} are needed`,
    );
  }
  const few = describeSmallSet(heldOut.length);
  return few === null ? fine(`${train.length} to learn from, ${held}${more}`) : note(few);
}

async function checkCode(): Promise<Looked> {
  const { name, python } = await openSandbox();
  return fine(`Python ${python} in ${name}`);
}

/** Checks both tiers of the mathematics grader. */
async function checkMathematics(): Promise<Looked> {
  const engine = engineVersion();
  const script = 'import importlib.metadata as packages; print(packages.version("math-verify"))';
  const second = await runProgram({ python: pythonPath() }, ['-c', script]).catch(() => null);
  const hint = `install math-verify with "${INSTALL_MATH_VERIFY}", or name its Python in CONDUCTOR_PYTHON`;
  if (engine !== null && second !== null)
    return fine(`compute-engine ${engine}, math-verify ${second.trim()}`);
  if (engine !== null)
    return note(`compute-engine ${engine} alone, which misses some right answers: ${hint}`);
  if (second !== null) return note(`math-verify alone: ${INSTALL_COMPUTE_ENGINE}`);
  return broken(`no tier is installed: ${INSTALL_COMPUTE_ENGINE}; or ${hint}`);
}

async function checkTrainer(
  { trainer: { taskQueue } }: TrainingConfig,
  { temporal }: NightCheck,
): Promise<Looked> {
  if (temporal === null)
    return broken(`no Temporal server runs here, so no trainer listens: start it ${HOW}`);
  if (await isPolled(temporal, taskQueue, 'activities')) return fine(`listens on task queue ${taskQueue}`);
  return broken(`none listens on task queue ${taskQueue} (training.trainer.taskQueue): start it ${HOW}`);
}

/** How to start the programs of training here. */
const HOW = isOurImage() ? 'as docker/README.md says' : 'with "temporal-conductor train up"';

/** A night needs one of its policy servers; it leaves out the others. */
async function checkPolicyServers({ policy }: TrainingConfig): Promise<Looked> {
  const looked = await Promise.all(serversOf(policy).map(checkPolicyServer));
  const text = looked.map((each) => each.text).join('; ');
  const states = looked.map(({ state }) => state);
  if (states.every((state) => state === states[0])) return { state: states[0] ?? 'broken', text };
  return note(text);
}

async function checkPolicyServer(baseUrl: string): Promise<Looked> {
  const remedy = `start one there, e.g. ${HOW}, or correct training.policy.baseUrl`;
  const found = await askHealth(baseUrl, TIMEOUT_MS - 500);
  if (found === null) return broken(`nothing answers at ${baseUrl}: ${remedy}`);
  if (found.ok) return fine(`${baseUrl} answers`);
  return note(`${found.url} answered ${found.status}: is a policy server there? Else ${remedy}`);
}

/** Asks a policy server for its health, which it answers even when busy; null without an answer in `timeoutMs`. */
export async function askHealth(baseUrl: string, timeoutMs: number): Promise<Response | null> {
  const signal = AbortSignal.timeout(timeoutMs);
  const send = await openFetch();
  return send(new URL('/health', baseUrl), { signal }).catch(() => null);
}

async function checkCheckpoints(
  { artifacts, base, policy }: TrainingConfig,
  { store, trainRun }: NightCheck,
): Promise<Looked> {
  const checkpoint = (await readTrainRun(store, trainRun))?.checkpoint ?? null;
  if (checkpoint !== null) {
    await readCheckpointManifest(store, checkpoint);
    const [name, files] = [checkpointId(checkpoint), openFiles(artifacts)];
    const bytes = await sizeOfWeights(files, checkpoint);
    if (bytes !== null) return fine(`${name} in ${files.url}, ${(bytes / 1e6).toPrecision(3)} MB`);
    return broken(
      `the next night begins with ${name}, whose weights are not in ${files.url}: put a copy of them back, or ` +
        'begin from another checkpoint: "temporal-conductor train start --from"',
    );
  }
  if (base.kind === 'tiny') return fine('the first night makes the base');
  const name = 'the base model (training.base.path)';
  if (existsSync(base.path)) return fine(`${name} in ${base.path}`);
  const { hostname } = new URL(serversOf(policy)[0] ?? '');
  return ['127.0.0.1', 'localhost', '[::1]'].includes(hostname)
    ? broken(`${name}: there is no folder ${base.path}: put a model with its tokenizer there, or correct it`)
    : note(`${name} lies in ${base.path} of the trainer's machine, which is not looked at from here`);
}
