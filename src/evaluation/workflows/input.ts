import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { FAILURES } from '../../protocol/failures';
import { isModel, isRun } from '../../protocol/given-run';
import { SOLVE_RULES } from '../../protocol/input';
import { isListOf, isString, orNull, whole, type Rule } from '../../protocol/messages';
import { findFault, oneOf, optional, type Rules, text } from '../../protocol/rules';
import { reasonOf } from '../../reason-of';
import type { EvaluateInput, QuestionInput } from '../contract';
import { readQuestionSetKey } from '../keys';
import { readMethods } from '../methods/read-method';
import { EVALUATE_WORKFLOW, MOST, QUESTION_WORKFLOW } from '../names';

const nanoUsd = orNull(whole(0));

const set: Rule = {
  isMet: (value) => isString(value) && readQuestionSetKey(value) !== null,
  expected: 'the key of a kept set of questions, questions/SHA-256.jsonl',
};

const SETTINGS: Rules<Omit<QuestionInput, 'question'>> = {
  id: {
    isMet: (value) => isString(value) && /^[a-z0-9][a-z0-9-]{0,62}$/.test(value),
    expected: 'up to 63 small letters, digits and dashes',
  },
  workers: listOf(MOST.workers),
  methods: listOf(MOST.methods),
  seed: whole(0),
  run: { isMet: isRun, expected: 'a run as the activity conductor.resolveRun returns it' },
  verifier: optional({ isMet: isModel, expected: 'the card of a model' }),
  compares: optional(oneOf(true, false)),
  limits: optional(SOLVE_RULES.limits),
  runNanoUsd: nanoUsd,
  nanoUsd,
};

const EVALUATION: Rules<EvaluateInput> = {
  ...SETTINGS,
  set,
  questions: whole(1, MOST.questions),
  window: whole(1, MOST.window),
  // It carries its state over by itself; nobody else may hand it one.
  carried: {
    isMet: (value) => value === undefined || workflowInfo().continuedFromExecutionRunId !== undefined,
    expected: 'left out: only an evaluation that goes on may have it',
  },
};

const QUESTION: Rules<QuestionInput> = {
  ...SETTINGS,
  question: { set, index: whole(0, MOST.questions) },
};

/** @throws ApplicationFailure `Solve.BadInput`, not retryable, for what no evaluation can be made of */
export function checkEvaluation(input: EvaluateInput): void {
  check(EVALUATE_WORKFLOW, input, EVALUATION);
}

export function checkQuestion(input: QuestionInput): void {
  check(QUESTION_WORKFLOW, input, QUESTION);
}

/** Names become parts of sentences and of workflow ids. */
function listOf(most: number): Rule {
  const isName = text(MOST.name).isMet;
  const isMet = (value: unknown): boolean =>
    isListOf(isName)(value) && whole(1, most).isMet((value as string[]).length);
  return { isMet, expected: `a list of 1 to ${most} names of ${MOST.name} characters at most` };
}

function check<Input extends QuestionInput | EvaluateInput>(
  workflow: string,
  input: Input,
  rules: Rules<Input>,
): void {
  const fault = findFault(workflow, input, rules) ?? findUnknownMethod(input);
  if (fault !== null) throw ApplicationFailure.nonRetryable(fault, FAILURES.badInput);
}

function findUnknownMethod({ methods, workers }: QuestionInput | EvaluateInput): string | null {
  try {
    readMethods(methods, workers);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}
