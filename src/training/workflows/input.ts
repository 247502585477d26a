import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { isRecord } from '../../plan/validate';
import { FAILURES } from '../../protocol/failures';
import { isTeam, isWorker } from '../../protocol/given-run';
import { isListOf, isWhole, MAX_WALL_CLOCK_MS } from '../../protocol/messages';
import { readCheckpointId } from '../checkpoint-ref';
import { MAX_CYCLE, MOST } from '../names';
import { isNightDate, isTimeZone } from '../night-ids';

/*
 * Any client may start a workflow with anything, and a number or a text without bounds can leave it hanging, where the
 * server refuses what it asks for, or fill the memory of its worker. So each of training's workflows checks its input
 * first, and fails with a sentence. By hand, as in `protocol/input.ts`.
 */

interface Rule {
  /** Place in the input, e.g. `run.limits.steps`. */
  readonly at: string;
  readonly isMet: (value: unknown) => boolean;
  readonly expected: string;
}

/** No number of steps means more. */
const MAX_STEPS = 1_000_000;

const MAX_WORKERS = 256;

/** @throws ApplicationFailure `Solve.BadInput`, not retryable, for what no night can be made of */
export function checkNight(workflow: string, input: unknown): void {
  check(workflow, input, NIGHT);
  const { carried } = input as { carried?: unknown };
  // A night carries its state over by itself; nobody else may hand it one.
  if (carried !== undefined && workflowInfo().continuedFromExecutionRunId === undefined) {
    throw refused(
      `the input of ${workflow} has "carried", which only a night that goes on may have: leave it out`,
    );
  }
}

export function checkNightly(workflow: string, input: unknown): void {
  check(workflow, input, [{ ...trainRun, isMet: isName }, ...NIGHT.filter(({ at }) => at !== 'trainRun')]);
}

export function checkGroup(workflow: string, input: unknown): void {
  check(workflow, input, GROUP);
}

export function checkWarmStart(workflow: string, input: unknown): void {
  check(workflow, input, WARM_START);
}

export function checkExport(workflow: string, input: unknown): void {
  check(workflow, input, EXPORT);
}

function check(workflow: string, input: unknown, rules: readonly Rule[]): void {
  for (const { at, isMet, expected } of rules) {
    const value = valueAt(input, at);
    if (!isMet(value)) {
      throw refused(`${at} in the input of ${workflow} is ${show(value)}: it must be ${expected}`);
    }
  }
}

function refused(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(problem, FAILURES.badInput);
}

function valueAt(input: unknown, at: string): unknown {
  return at
    .split('.')
    .reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      input,
    );
}

const SHOWN_CHARACTERS = 80;

/** A value for a sentence, however long it is. */
export function show(value: unknown): string {
  const text = typeof value === 'number' || value === undefined ? String(value) : JSON.stringify(value);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}

function optional(isMet: Rule['isMet']): Rule['isMet'] {
  return (value) => value === undefined || isMet(value);
}

function whole(at: string, least: number, most: number): Rule {
  return {
    at,
    isMet: (value) => isWhole(value, least, most),
    expected: `a whole number from ${least} to ${most}`,
  };
}

function milliseconds(at: string): Rule {
  return { ...whole(at, 1, MAX_WALL_CLOCK_MS), expected: 'a whole number of milliseconds, 24 days at most' };
}

function text(at: string, most: number): Rule {
  return { at, isMet: (value) => isText(value, most), expected: `a text of 1 to ${most} characters` };
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= most;
}

function isName(value: unknown): boolean {
  return isText(value, 63) && /^[a-z0-9][a-z0-9-]*$/.test(value);
}

function name(at: string): Rule {
  return { at, isMet: isName, expected: 'up to 63 small letters, digits and dashes' };
}

/** What the trainer is handed out of the store is what was kept for it, and nothing else that lies there. */
function keptIn(at: string, folder: string): Rule {
  const isMet = (value: unknown): boolean =>
    isText(value, 100) && value.startsWith(`${folder}/`) && /^[a-z-]+\/[0-9a-f]{64}\.jsonl$/.test(value);
  return { at, isMet, expected: `the key of a text in ${folder}/` };
}

const trainRun = name('trainRun');

const NIGHT: readonly Rule[] = [
  { ...trainRun, isMet: optional(isName) },
  {
    at: 'date',
    isMet: optional((value) => isText(value, 10) && isNightDate(value)),
    expected: 'a calendar date such as 2026-11-21',
  },
  {
    at: 'timeZone',
    isMet: optional((value) => isText(value, 64) && isTimeZone(value)),
    expected: 'the name of a time zone, such as Europe/Berlin',
  },
  { ...whole('cycles', 1, MOST.cycles), isMet: optional((value) => isWhole(value, 1, MOST.cycles)) },
  {
    at: 'from',
    isMet: optional((value) => isText(value, 127) && readCheckpointId(value) !== null),
    expected: 'a checkpoint such as nightly/000040',
  },
  {
    at: 'config',
    isMet: optional((value) => isRecord(value) && Object.values(value).every((hash) => isText(hash, 16))),
    expected: 'the digest of a configuration',
  },
];

const PURPOSES: readonly unknown[] = ['training', 'evaluation', 'canary', 'examples'];

const GROUP: readonly Rule[] = [
  trainRun,
  whole('cycle', 0, MAX_CYCLE),
  whole('draw', 0, Number.MAX_SAFE_INTEGER),
  text('question.set', 256),
  whole('question.index', 0, Number.MAX_SAFE_INTEGER),
  whole('plans', 1, MOST.plans),
  whole('window', 1, Number.MAX_SAFE_INTEGER),
  {
    at: 'purpose',
    isMet: (value) => PURPOSES.includes(value),
    expected: '"training", "evaluation", "canary" or "examples"',
  },
  {
    at: 'writer',
    isMet: (value) =>
      value === 'prompted' || (isName(valueAt(value, 'trainRun')) && isName(valueAt(value, 'name'))),
    expected: '"prompted", or a checkpoint { trainRun, name }',
  },
  {
    at: 'temperature',
    isMet: (value) => typeof value === 'number' && value >= 0 && value <= 2,
    expected: 'a number from 0 to 2',
  },
  {
    at: 'workers',
    isMet: (value) => isListOf(isWorker)(value) && isWhole((value as unknown[]).length, 1, MAX_WORKERS),
    expected: `a list of 1 to ${MAX_WORKERS} workers`,
  },
  whole('recursion.rounds', 1, 2),
  { at: 'run', isMet: isTeam, expected: 'a run as the configuration resolves to' },
  whole('run.limits.steps', 1, MAX_STEPS),
  whole('run.limits.calls', 1, Number.MAX_SAFE_INTEGER),
  milliseconds('run.limits.wallClockMs'),
  milliseconds('run.heartbeatMs'),
  text('policy.baseUrl', 2_048),
  milliseconds('policy.timeoutMs'),
  milliseconds('policy.patienceMs'),
];

const QUEUE_CHARACTERS = 1_000;

const TEXTS = keptIn('init.base.texts.key', 'tokenizer-texts');

const WARM_START: readonly Rule[] = [
  name('warmStart.trainRun'),
  name('warmStart.name'),
  whole('warmStart.steps', 1, MAX_STEPS),
  whole('warmStart.batch', 1, MAX_STEPS),
  whole('warmStart.warmupSteps', 0, MAX_STEPS),
  keptIn('warmStart.examples.key', 'examples'),
  { ...TEXTS, isMet: optional(TEXTS.isMet) },
  text('settings.trainer.taskQueue', QUEUE_CHARACTERS),
  text('settings.policy.baseUrl', 2_048),
  { ...text('init.base.path', 4_096), isMet: optional((value) => isText(value, 4_096)) },
  milliseconds('settings.policy.patienceMs'),
  milliseconds('settings.budget.wallClockMs'),
  milliseconds('settings.run.heartbeatMs'),
];

const EXPORT: readonly Rule[] = [
  name('checkpoint.trainRun'),
  name('checkpoint.name'),
  text('directory', 4_096),
  text('taskQueue', QUEUE_CHARACTERS),
  milliseconds('heartbeatMs'),
  milliseconds('timeoutMs'),
];
