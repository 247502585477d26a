import fc from 'fast-check';
import { parsePlan } from '../../src/plan/parse';
import type { Message } from '../../src/plan/plan';
import { PlanError } from '../../src/plan/plan-error';
import { conductorMessages } from '../../src/plan/prompt/conductor';
import { workerMessages } from '../../src/plan/prompt/worker';
import { hostileText } from '../support/hostile-text';
import { countLooks } from './count-looks';
import { outcomeOf } from './outcome';
import { CONTEXT } from './replies';

const MEGABYTE = 1024 * 1024;
/** All that a prompt adds to its texts: rules, examples, headings, tags. */
const WORDING = 8 * 1024;

const REPLY_PIECES = [
  ...[
    'model_id = [',
    'subtasks = ["',
    'access_list = [',
    'steps = [{',
    '"steps": [',
    '<think>',
    '</think>',
    'all',
  ],
  ...[
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '“',
    '`',
    '\\',
    '\\u',
    ',',
    ':',
    '=',
    '#',
    '//',
    '- ',
    '1. ',
    '\n',
    ' ',
    '\t',
    '0',
  ],
];
const TAGS = [
  '<answer>',
  '</answer',
  '<answer-2>',
  '< / subtask',
  '<your_subtask-',
  '<question',
  '-1',
  '-99',
  '<',
  ' ',
  '\n',
];

test('any reply up to a megabyte is a plan or a typed error with a short message, looked at a few times', () => {
  fc.assert(
    fc.property(hostileText(REPLY_PIECES), (text) => {
      const looks = countLooks(() => {
        const outcome = outcomeOf(() => parsePlan(text, CONTEXT));
        if (outcome instanceof PlanError) expect(outcome.message.length).toBeLessThan(1024);
      });
      expect(looks).toBeLessThan(25 * (text.length + 100));
    }),
    { numRuns: 25 },
  );
});

test('any texts up to a megabyte make prompts no longer than they are, in one look', () => {
  const text = hostileText(TAGS, MEGABYTE / 4);
  const lengthOf = (messages: readonly Message[]): number =>
    messages.reduce((sum, message) => sum + message.text.length, 0);
  fc.assert(
    fc.property(
      text,
      text,
      text,
      fc.constantFrom('tagged', 'chat', 'plain'),
      (question, subtask, output, layout) => {
        const background = [{ subtask, output }];
        const given = 3 * (question.length + subtask.length + output.length);
        const looks = countLooks(() => {
          const sees = [{ step: 0, subtask, output }];
          expect(lengthOf(workerMessages({ question, subtask, background, sees, layout }))).toBeLessThan(
            given + WORDING,
          );
          const repairs = [{ reply: output, problem: 'no plan' }];
          const pool = { workers: [{ id: 'a', notes: 'good' }], describe: 'notes', maxSteps: 5 } as const;
          const prompt = { question, background, hints: ['mind this'], repairs, ...pool } as const;
          for (const format of ['lists', 'json'] as const) {
            const review = { plan: { steps: [{ worker: 'a', subtask, sees: [] }] }, answer: output };
            const messages = conductorMessages({ ...prompt, format, review });
            expect(lengthOf(messages)).toBeLessThan(2 * given + WORDING);
          }
        });
        expect(looks).toBeLessThan(40 * (given + WORDING));
      },
    ),
    { numRuns: 25 },
  );
});
