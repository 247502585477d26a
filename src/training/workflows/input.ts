import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { readQuestionSetKey } from '../../evaluation/store-keys';
import { isRecord } from '../../plan/validate';
import { FAILURES } from '../../protocol/failures';
import { GROUP_RUN, MODEL, WORKER } from '../../protocol/given-run';
import { durationMs as duration, MAX_STEPS } from '../../protocol/messages';
import {
  findFault,
  either,
  isString,
  listOf,
  number,
  oneOf,
  optional,
  recordOf,
  type Rule,
  type Rules,
  text,
  whole,
} from '../../protocol/rules';
import { type CheckpointRef, isNightDate, isTimeZone, readCheckpointId } from '../ids';
import type { ExportInput, GroupInput, TrainInput, WarmStartInput } from '../contract';
import { MAX_CYCLE, MOST } from '../names';
import type { PolicySettings } from '../config/resolve';

/** @throws ApplicationFailure `Solve.BadInput`, not retryable, for what no night can be made of */
export function checkNight(workflow: string, input: TrainInput): void {
  check(workflow, input, NIGHT);
}

export function checkNightly(workflow: string, input: TrainInput): void {
  check(workflow, input, { ...NIGHT, trainRun: name });
}

export function checkGroup(workflow: string, input: GroupInput): void {
  check(workflow, input, GROUP);
}

export function checkWarmStart(workflow: string, input: WarmStartInput): void {
  check(workflow, input, WARM_START);
}

export function checkExport(workflow: string, input: ExportInput): void {
  check(workflow, input, EXPORT);
}

function check<Input>(workflow: string, input: Input, rules: Rules<Input>): void {
  const fault = findFault(workflow, input, rules);
  if (fault !== null) throw ApplicationFailure.nonRetryable(fault, FAILURES.badInput);
}

/** No number of steps of the trainer means more. */
const MAX_TRAINED = 1_000_000;
const MAX_WORKERS = 256;

const finite: Rule = { isMet: Number.isFinite, expected: 'a number' };
const tokens = whole(1);
/** Temporal refuses names that are longer. */
const queue = text(1_000);
const address = text(2_048);
const folder = text(4_096);

const name: Rule = {
  isMet: (value) => isString(value) && /^[a-z0-9][a-z0-9-]{0,62}$/.test(value),
  expected: 'up to 63 small letters, digits and dashes',
};
const checkpoint: Rules<CheckpointRef> = { trainRun: name, name };

/** The trainer may read only what was stored for it, so keys of anything else are refused. */
const examplesKey: Rule = {
  isMet: (value) => isString(value) && /^examples\/[0-9a-f]{64}\.jsonl$/.test(value),
  expected: 'the key of kept examples, examples/SHA-256.jsonl',
};
const textsKey: Rule = {
  isMet: (value) => isString(value) && /^tokenizer-texts\/[0-9a-f]{64}\.jsonl$/.test(value),
  expected: 'the key of kept texts, tokenizer-texts/SHA-256.jsonl',
};

/** The trainer holds every message against the contract itself, and refuses what is not in it for good. */
const leftToTheTrainer: Rule = { isMet: isRecord, expected: "an object of the trainer's contract" };

const NIGHT: Rules<TrainInput> = {
  trainRun: optional(name),
  date: optional({
    isMet: (value) => isString(value) && value.length === 10 && isNightDate(value),
    expected: 'a calendar date such as 2026-11-21',
  }),
  timeZone: optional({
    isMet: (value) => text(64).isMet(value) && isTimeZone(value as string),
    expected: 'the name of a time zone, such as Europe/Berlin',
  }),
  cycles: optional(whole(1, MOST.cycles)),
  from: optional({
    isMet: (value) => isString(value) && readCheckpointId(value) !== null,
    expected: 'a checkpoint such as nightly/000040',
  }),
  config: optional(recordOf(text(16))),
  // A night carries its state over by itself; nobody else may hand it one.
  carried: {
    isMet: (value) => value === undefined || workflowInfo().continuedFromExecutionRunId !== undefined,
    expected: 'left out: only a night that goes on may have it',
  },
};

const POLICY: Rules<PolicySettings> = {
  baseUrl: address,
  prompt: oneOf('full', 'compact'),
  describe: oneOf('ordinals', 'names', 'notes'),
  temperature: number(0, 2),
  servingTemperature: number(0, 2),
  maxPromptTokens: tokens,
  maxOutputTokens: tokens,
  timeoutMs: duration,
  patienceMs: duration,
};

const GROUP: Rules<GroupInput> = {
  trainRun: name,
  purpose: oneOf('training', 'evaluation', 'canary', 'examples'),
  cycle: whole(0, MAX_CYCLE),
  draw: whole(0),
  seed: whole(0),
  question: {
    set: {
      isMet: (value) => isString(value) && readQuestionSetKey(value) !== null,
      expected: 'the key of a kept set of questions, questions/SHA-256.jsonl',
    },
    index: whole(0),
  },
  writer: either(isString, oneOf('prompted'), checkpoint),
  plans: whole(1, MOST.plans),
  window: whole(1),
  temperature: number(0, 2),
  policy: POLICY,
  reward: {
    unparseable: finite,
    parseable: finite,
    correct: finite,
    costWeight: finite,
    lengthWeight: finite,
  },
  recursion: { rounds: oneOf(1, 2), rootDiscount: number(0, 1) },
  workers: listOf(WORKER, 1, MAX_WORKERS),
  verifier: optional(MODEL),
  run: GROUP_RUN,
};

const WARM_START: Rules<WarmStartInput> = {
  init: {
    trainRun: name,
    base: { isMet: isBase, expected: 'a folder with a model, or a tiny model of texts that were kept' },
    config: leftToTheTrainer,
  },
  warmStart: {
    trainRun: name,
    parent: checkpoint,
    name,
    examples: { key: examplesKey, sha256: text(64) },
    steps: whole(1, MAX_TRAINED),
    batch: whole(1, MAX_TRAINED),
    learningRate: finite,
    warmupSteps: whole(0, MAX_TRAINED),
    weights: oneOf('tuned', 'all'),
    config: leftToTheTrainer,
  },
  settings: {
    policy: POLICY,
    trainer: { taskQueue: queue, device: oneOf('cpu', 'cuda') },
    budget: { wallClockMs: duration },
    tolerance: { probe: finite },
    run: { heartbeatMs: duration, limits: { steps: whole(1, MAX_STEPS) } },
  },
};

function isBase(base: unknown): boolean {
  if (!isRecord(base)) return false;
  if (base.kind === 'folder') return folder.isMet(base.path);
  return base.kind === 'tiny' && isRecord(base.texts) && textsKey.isMet(base.texts.key);
}

const EXPORT: Rules<ExportInput> = {
  checkpoint,
  directory: folder,
  taskQueue: queue,
  heartbeatMs: duration,
  timeoutMs: duration,
};
