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
import { keepLines } from '../../../src/store/texts';
import { askForWarmStart } from '../../../src/training/activities/data';
import { parseTrainable } from '../../../src/training/config/load';
import { resolveTraining, trainingOf } from '../../../src/training/config/resolve';
import type { GroupInput, WarmStartInput } from '../../../src/training/inputs';
import {
  EXPORT_WORKFLOW,
  GROUP_WORKFLOW,
  NIGHTLY_WORKFLOW,
  TRAIN_WORKFLOW,
  WARM_START_WORKFLOW,
} from '../../../src/training/names';
import { checkInput, type CheckInputRequest } from '../../../src/training/activities/check-input';
import { ConfigError } from '../../../src/config/errors';
import { FAILURES } from '../../../src';
import { inWindow } from '../../../src/workflows/in-window';
import { type Mangled, mangle } from '../../support/mangled';
import { LESSON, openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';

/** A workflow of training or of evaluations, an input that it takes, and the check that it begins with. */
interface Taken {
  readonly workflow: string;
  readonly input: unknown;
  readonly check: (input: unknown) => Promise<void> | void;
}

export interface InputStage extends ScriptedTraining {
  readonly taken: readonly Taken[];
  /** Runs a workflow on an input: null if it came to its end, else its final error. */
  ask(workflow: string, input: unknown): Promise<Error | null>;
}

export async function openInputStage(): Promise<InputStage> {
  const stage = await openScriptedTraining({
    question: { grader: 'freeform', answer: 'the Danube', verify: true },
    verifier: 'judge',
  });
  return { ...stage, taken: await takenBy(stage), ask: (workflow, input) => ask(stage, workflow, input) };
}

const EVALUATION = 'eval-mangled';

async function takenBy(stage: ScriptedTraining): Promise<readonly Taken[]> {
  const config = parseTrainable(stage.config);
  const settings = resolveTraining(config);
  const { trainRun, seed, policy, reward, recursion, window, verifier, groupSize: plans } = settings;
  const run = { ...settings.run, workers: settings.run.workers.slice(0, 1) };
  const question = {
    id: '1',
    question: 'Which river?',
    grader: 'freeform',
    answer: 'the Danube',
    verify: true,
  };
  const { key: set } = await keepLines(stage.store, [question], questionSetKey);
  const group: GroupInput = {
    trainRun,
    seed,
    policy,
    reward,
    recursion,
    window,
    plans,
    run,
    workers: run.workers,
    purpose: 'examples',
    cycle: 0,
    draw: 0,
    question: { set, index: 0 },
    writer: 'prompted',
    ...(verifier !== undefined && { verifier }),
    temperature: 1,
  };
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
    methods: ['conductor', 'vote:a', 'worker:a'],
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
    ownTaken(GROUP_WORKFLOW, group),
    ownTaken(WARM_START_WORKFLOW, warmStart),
    ownTaken(EXPORT_WORKFLOW, exported),
    ownTaken(TRAIN_WORKFLOW, night),
    ownTaken(NIGHTLY_WORKFLOW, night),
    taken(EVALUATE_WORKFLOW, evaluation, (input) => {
      checkEvaluation(input as EvaluateInput);
    }),
    taken(QUESTION_WORKFLOW, asked, (input) => {
      checkQuestion(input as QuestionInput);
    }),
  ];

  function ownTaken(workflow: CheckInputRequest['workflow'], input: unknown): Taken {
    return taken(workflow, input, (given) => checkInput({ config }, { workflow, input: given }));
  }
}

function taken(workflow: string, input: unknown, check: Taken['check']): Taken {
  return { workflow, input, check };
}

/** Mangled inputs, those that a workflow refuses at once apart from those that it goes to work with. */
async function sortMangled({ input, check }: Taken): Promise<{ refused: Mangled[]; accepted: Mangled[] }> {
  const sorted = { refused: [] as Mangled[], accepted: [] as Mangled[] };
  for (const mangled of mangle(input))
    sorted[(await isRefused(mangled.input)) ? 'refused' : 'accepted'].push(mangled);
  return sorted;

  async function isRefused(given: unknown): Promise<boolean> {
    try {
      await check(given);
      return false;
    } catch (error) {
      // Other places than are configured are told by the workflow's failure.
      if (error instanceof ConfigError) return false;
      if (!(error instanceof ApplicationFailure)) throw error;
      return true;
    }
  }
}

/** An evaluation's id names the workflows below it. */
function apart(input: unknown): unknown {
  const isEvaluation = isRecord(input) && input.id === EVALUATION;
  return isEvaluation ? { ...input, id: `eval-${randomUUID()}` } : input;
}

async function ask(stage: ScriptedTraining, workflow: string, input: unknown): Promise<Error | null> {
  const run = stage.temporal.client.workflow.execute(workflow, {
    workflowId: randomUUID(),
    taskQueue: stage.taskQueue,
    args: [apart(input)],
    workflowExecutionTimeout: '45s',
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
 * Sends workflows what somebody else might: every n-th of the inputs that they go to work with, and some of those that they
 * refuse. Each must come to its end or fail with a sentence; a workflow task that fails over and over runs out of time.
 */
export async function askMangled(stage: InputStage, stride: number): Promise<void> {
  for (const taken of stage.taken) {
    expect(await stage.ask(taken.workflow, taken.input)).toBeNull();
    const { refused, accepted } = await sortMangled(taken);
    for (const { input } of refused.filter((_, place) => place % (100 * stride) === 0)) {
      expect(await stage.ask(taken.workflow, input)).toMatchObject({ type: FAILURES.badInput });
    }
    const some = accepted.filter((_, place) => place % stride === 0);
    // Nights of one training run come one after another.
    const isNight = taken.workflow === TRAIN_WORKFLOW || taken.workflow === NIGHTLY_WORKFLOW;
    await inWindow(some, isNight ? 1 : 16, async ({ what, input }) => {
      const failure = await stage.ask(taken.workflow, input);
      const isSaid = failure === null || failure instanceof ApplicationFailure;
      if (!isSaid) throw new Error(`${taken.workflow} with ${what}`, { cause: failure });
    });
  }
}
