import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { isRecord } from '../../plan/validate';
import { FAILURES } from '../../protocol/failures';
import { isRun, isWorker } from '../../protocol/given-run';
import { isBound, isListOf, isString, isWhole } from '../../protocol/messages';
import { reasonOf } from '../../reason-of';
import { readMethods } from '../methods/read-method';
import { EVALUATE_WORKFLOW, MOST, QUESTION_WORKFLOW } from '../names';

type Rules = Readonly<Record<string, readonly [isMet: (value: unknown) => boolean, expected: string]>>;

const isId = (value: unknown): boolean => isString(value) && /^[a-z0-9][a-z0-9-]{0,62}$/.test(value);
const isList = (value: unknown): boolean => isListOf(isString)(value) && (value as string[]).length > 0;

const SETTINGS: Rules = {
  id: [isId, 'up to 63 small letters, digits and dashes'],
  workers: [isList, 'a list of ids of workers'],
  methods: [(value) => isList(value) && (value as string[]).length <= MOST.methods, 'a list of methods'],
  seed: [(value) => isWhole(value, 0), 'a whole number from 0'],
  runNanoUsd: [isBound, 'a whole number from 0, or null for no limit'],
  nanoUsd: [isBound, 'a whole number from 0, or null for no limit'],
  run: [
    (value) => value === undefined || isRun(value),
    'a run as the activity conductor.resolveRun returns it',
  ],
  verifier: [(value) => value === undefined || isWorker(value), 'the card of a model'],
};

/**
 * Any client may start a workflow with anything, and what is unbounded could leave it hanging.
 *
 * @throws ApplicationFailure `Solve.BadInput`, not retryable, for what no evaluation can be made of
 */
export function checkEvaluation(input: unknown): void {
  check(EVALUATE_WORKFLOW, input, {
    ...SETTINGS,
    set: [isString, 'the store key of a set of questions'],
    questions: [(value) => isWhole(value, 1, MOST.questions), `a whole number from 1 to ${MOST.questions}`],
    window: [(value) => isWhole(value, 1, MOST.window), `a whole number from 1 to ${MOST.window}`],
    // It carries its state over by itself; nobody else may hand it one.
    carried: [
      (value) => value === undefined || workflowInfo().continuedFromExecutionRunId !== undefined,
      'left out: only an evaluation that goes on may have it',
    ],
  });
}

export function checkQuestion(input: unknown): void {
  const isRef = (value: unknown): boolean =>
    isRecord(value) && isString(value.set) && isWhole(value.index, 0, MOST.questions);
  check(QUESTION_WORKFLOW, input, { ...SETTINGS, question: [isRef, '{ set, index }'] });
}

function check(workflow: string, input: unknown, rules: Rules): void {
  const given = isRecord(input) ? input : {};
  for (const [name, [isMet, expected]] of Object.entries(rules)) {
    if (!isMet(given[name])) throw refused(`${name} in the input of ${workflow} must be ${expected}`);
  }
  try {
    readMethods(given.methods as string[], given.workers as string[]);
  } catch (error) {
    throw refused(reasonOf(error));
  }
}

function refused(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(problem, FAILURES.badInput);
}
