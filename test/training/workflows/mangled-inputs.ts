import { randomUUID } from 'node:crypto';
import { ApplicationFailure, type WorkflowFailedError } from '@temporalio/client';
import {
  EVALUATE_WORKFLOW,
  type EvaluateInput,
  QUESTION_WORKFLOW,
  type QuestionInput,
  questionSetKey,
} from '../../../src/evaluation/contract';
import { checkEvaluation, checkQuestion } from '../../../src/evaluation/workflows/check-input';
import { isRecord } from '../../../src/plan/validate';
import { keepLines } from '../../../src/store/records';
import { askForWarmStart } from '../../../src/training/client';
import { parseTrainable, resolveTraining, trainingOf } from '../../../src/training/config';
import { groupInput } from '../../../src/training/draw';
import type { WarmStartInput } from '../../../src/training/inputs';
import * as names from '../../../src/training/names';
import { checkTrainingInput, type CheckInputRequest } from '../../../src/training/activities/check-input';
import { ConfigError } from '../../../src/config/errors';
import { FAILURES } from '../../../src';
import { inWindow } from '../../../src/workflows/parts';
import { type Mangled, mangle } from '../../support/mangled';
import { LESSON, openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';

/** A training or evaluation workflow, a valid input for it, and the check that it starts with. */
export interface Taken {
  readonly workflow: string;
  readonly input: unknown;
  readonly check: (input: unknown) => Promise<void> | void;
}

const EVALUATION = 'eval-mangled';
const RIVER = { grader: 'freeform', answer: 'the Danube', verify: true };

export async function takenBy(stage: ScriptedTraining): Promise<readonly Taken[]> {
  const config = parseTrainable(stage.config);
  const settings = resolveTraining(config);
  const { trainRun, policy, verifier } = settings;
  const run = { ...settings.run, workers: settings.run.workers.slice(0, 1) };
  const question = { id: '1', question: 'Which river?', ...RIVER };
  const { key: set } = await keepLines(stage.store, [question], questionSetKey);
  const { workers } = run;
  const options = { purpose: 'examples', cycle: 0, draw: 0, question: { set, index: 0 }, workers } as const;
  const limits = { nanoUsd: null, wallClockMs: Infinity };
  const group = groupInput({ ...settings, run }, { ...options, writer: 'prompted' }, limits);
  const lesson = await askForWarmStart(stage.store, trainingOf(config).base, LESSON, settings);
  const warmStart: WarmStartInput = {
    ...lesson,
    settings: {
      policy,
      trainer: { taskQueue: settings.trainer.taskQueue },
      budget: { wallClockMs: settings.budget.wallClockMs },
      tolerance: { probe: 1 },
      run: { heartbeatMs: run.heartbeatMs, limits: { steps: run.limits.steps } },
    },
  };
  const both = {
    id: EVALUATION,
    workers: ['a'],
    methods: ['conductor', 'vote:a', 'worker:a', 'conductor:other', 'worker:b'],
    conductors: { other: run.conductor },
    baselines: run.workers.map((worker) => ({ ...worker, id: 'b' })),
    seed: 1,
    run,
    pool: { allow: ['a'], deny: [] },
    limits: { steps: 2, costUsd: 1 },
    compares: true,
    verifier,
    runNanoUsd: 1e9,
    nanoUsd: 1e10,
  };
  const evaluation: EvaluateInput = { ...both, set, questions: 1, window: 1 };
  const asked: QuestionInput = { ...both, question: { set, index: 0 } };
  const night = { trainRun, date: '2026-01-10', timeZone: 'Europe/Berlin', cycles: 1 };
  const exported = {
    checkpoint: { trainRun, name: 'base' },
    directory: '/exports/mangled',
    taskQueue: stage.trainerQueue,
    heartbeatMs: 60_000,
    timeoutMs: 60_000,
  };
  return [
    ownTaken(names.GROUP_WORKFLOW, group),
    ownTaken(names.WARM_START_WORKFLOW, warmStart),
    ownTaken(names.EXPORT_WORKFLOW, exported),
    ownTaken(names.TRAIN_WORKFLOW, night),
    ownTaken(names.NIGHTLY_WORKFLOW, night),
    { workflow: EVALUATE_WORKFLOW, input: evaluation, check: checkEvaluation as Taken['check'] },
    { workflow: QUESTION_WORKFLOW, input: asked, check: checkQuestion as Taken['check'] },
  ];

  function ownTaken(workflow: CheckInputRequest['workflow'], input: unknown): Taken {
    return { workflow, input, check: (given) => checkTrainingInput({ config }, { workflow, input: given }) };
  }
}

/** Sorts mangled inputs into those that a workflow refuses at once and those that it accepts. */
async function sortMangled({ input, check }: Taken): Promise<{ refused: Mangled[]; accepted: Mangled[] }> {
  const sorted = { refused: [] as Mangled[], accepted: [] as Mangled[] };
  for (const mangled of mangle(input)) {
    try {
      await check(mangled.input);
      sorted.accepted.push(mangled);
    } catch (error) {
      // For an address that is not configured, the workflow itself fails later.
      if (error instanceof ConfigError) sorted.accepted.push(mangled);
      else if (error instanceof ApplicationFailure) sorted.refused.push(mangled);
      else throw error;
    }
  }
  return sorted;
}

/** Gives an evaluation a new id, from which the ids of its child workflows derive. */
function apart(input: unknown): unknown {
  const isEvaluation = isRecord(input) && input.id === EVALUATION;
  return isEvaluation ? { ...input, id: `eval-${randomUUID()}` } : input;
}

/** Runs a workflow on an input; returns null if it completes, else the innermost error. */
async function ask(stage: ScriptedTraining, workflow: string, input: unknown): Promise<Error | null> {
  const run = stage.temporal.client.workflow.execute(workflow, {
    workflowId: randomUUID(),
    taskQueue: stage.taskQueue,
    args: [apart(input)],
    workflowExecutionTimeout: '120s',
  });
  try {
    await run;
    return null;
  } catch (error) {
    return innermost(error as WorkflowFailedError);
  }
}

function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}

/**
 * Sends mangled inputs to workflows: every n-th of those that they accept, and some of those that they refuse. Each run
 * must complete or fail with a sentence; a workflow task that keeps failing runs into the timeout.
 */
export async function askMangled(stride: number): Promise<void> {
  const stage = await openScriptedTraining({ question: RIVER, verifier: 'judge' });
  // A night of which no answer can be graded ends.
  stage.providers.answer('a', RIVER.answer);
  try {
    const inputs = await takenBy(stage);
    await stage.whileWorking(async () => {
      for (const taken of inputs) await askEach(stage, taken, stride);
    });
  } finally {
    await stage.close();
  }
}

async function askEach(stage: ScriptedTraining, taken: Taken, stride: number): Promise<void> {
  expect(await ask(stage, taken.workflow, taken.input)).toBeNull();
  const { refused, accepted } = await sortMangled(taken);
  for (const { input } of refused.filter((_, place) => place % (100 * stride) === 0)) {
    expect(await ask(stage, taken.workflow, input)).toMatchObject({ type: FAILURES.badInput });
  }
  const some = accepted.filter((_, place) => place % stride === 0);
  // Nights of one training run cannot overlap.
  const isNight = taken.workflow === names.TRAIN_WORKFLOW || taken.workflow === names.NIGHTLY_WORKFLOW;
  await inWindow(some, isNight ? 1 : 16, async ({ what, input }) => {
    const failure = await ask(stage, taken.workflow, input);
    const isSaid = failure === null || failure instanceof ApplicationFailure;
    if (!isSaid) throw new Error(`${taken.workflow} with ${what}`, { cause: failure });
  });
}
