import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { isRecord } from '../../plan/validate';
import { FAILURES } from '../../protocol/failures';
import { bound } from '../../protocol/messages';
import {
  findFault,
  flag,
  given,
  givenModel,
  isString,
  listOf,
  optional,
  type Rule,
  type Rules,
  text,
  whole,
} from '../../protocol/rules';
import { reasonOf } from '../../errors';
import {
  EVALUATE_WORKFLOW,
  type EvaluateInput,
  QUESTION_WORKFLOW,
  type QuestionInput,
  readQuestionSetKey,
} from '../contract';
import { readMethods } from '../methods/read-method';

/** Limits of one evaluation; a larger input is refused as a mistake. */
const MOST = { questions: 1_000_000, methods: 64, workers: 256, name: 200, window: 64 } as const;

const set: Rule = {
  isMet: (value) => isString(value) && readQuestionSetKey(value) !== null,
  expected: 'the key of a kept set of questions, questions/SHA-256.jsonl',
};

const name = text(MOST.name);

/** Checks only the id; `conductor.checkRun` checks the rest. */
const givenWorker: Rule = {
  isMet: (card) => isRecord(card) && isString(card.id),
  expected: 'the card of a worker, with its id',
};

const SETTINGS: Rules<Omit<QuestionInput, 'question'>> = {
  id: {
    isMet: (value) => isString(value) && /^[a-z0-9][a-z0-9-]{0,62}$/.test(value),
    expected: 'up to 63 lowercase letters, digits and dashes',
  },
  workers: listOf(name, 1, MOST.workers),
  methods: listOf(name, 1, MOST.methods),
  seed: whole(0),
  run: given,
  conductors: optional(given),
  baselines: optional(listOf(givenWorker, 0, MOST.workers)),
  verifier: optional(givenModel),
  compares: optional(flag),
  limits: optional(given),
  runNanoUsd: bound,
  nanoUsd: bound,
};

const EVALUATION: Rules<EvaluateInput> = {
  ...SETTINGS,
  set,
  questions: whole(1, MOST.questions),
  window: whole(1, MOST.window),
  // Only the workflow itself may pass its state on, when it continues as new.
  carried: {
    isMet: (value) => value === undefined || workflowInfo().continuedFromExecutionRunId !== undefined,
    expected: 'left out: only an evaluation that goes on may have it',
  },
};

const index = whole(0, MOST.questions);

const QUESTION: Rules<QuestionInput> = {
  ...SETTINGS,
  question: {
    isMet: (value) => isRecord(value) && set.isMet(value.set) && index.isMet(value.index),
    expected: `{ set: ${set.expected}, index: ${index.expected} }`,
  },
};

/** @throws ApplicationFailure `Solve.BadInput`, not retryable, for an invalid input */
export function checkEvaluation(input: EvaluateInput): void {
  check(input, findFault(EVALUATE_WORKFLOW, input, EVALUATION));
}

export function checkQuestion(input: QuestionInput): void {
  check(input, findFault(QUESTION_WORKFLOW, input, QUESTION));
}

function check(input: EvaluateInput | QuestionInput, fault: string | null): void {
  if (fault !== null) throw ApplicationFailure.nonRetryable(fault, FAILURES.badInput);
  try {
    readMethods(input.methods, input);
  } catch (error) {
    throw ApplicationFailure.nonRetryable(reasonOf(error), FAILURES.badInput);
  }
}
