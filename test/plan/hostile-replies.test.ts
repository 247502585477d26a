import fc from 'fast-check';
import { parsePlan } from '../../src/plan/parse';
import type { Message } from '../../src/plan/plan';
import { PlanError } from '../../src/plan/plan-error';
import { conductorMessages } from '../../src/plan/prompt/conductor';
import { workerMessages } from '../../src/plan/prompt/worker';
import * as patterns from '../../src/plan/reply/reader';
import { hostileText } from '../support/hostile-text';
import { LONGEST_TEXT, tries } from '../support/thorough';
import { outcomeOf, PIECES } from './outcome';
import { CONTEXT } from './replies';

/** Bound on what a prompt adds to its texts: rules, examples, headings, tags. */
const WORDING = 8 * 1024;
const PREFIXES = ['', 'model_id = [', 'subtasks = ["', 'steps = [{"subtask": "', 'access_list:\n- '];
const TAGS = [
  ...['<answer>', '</answer', '<answer-2>', '< / subtask', '<your_subtask-', '<question'],
  ...['-1', '-99', '<', ' ', '\n'],
];

// Deep enough to overflow the stack of a recursive parser; the next test bounds the time.
test.each(PIECES)('a long run of %j gives a plan or a typed error', (unit) => {
  const text = `subtasks = [${unit.repeat(LONGEST_TEXT / unit.length)}`;
  outcomeOf(() => parsePlan(text, CONTEXT));
});

test.each(PIECES)('parsing repetitions of %j looks at each character a bounded number of times', (unit) => {
  for (const prefix of PREFIXES) {
    const text = prefix + unit.repeat(1000);
    expect(countLooks(() => outcomeOf(() => parsePlan(text, CONTEXT)))).toBeLessThan(20 * text.length);
  }
});

test('no pattern has an unbounded quantifier', () => {
  const found = Object.values(patterns).filter((value) => value instanceof RegExp);
  expect(found).toHaveLength(9);
  for (const { source } of found) {
    const quantifiers = source.replace(/\\./g, '').replace(/\[[^\]]*\]/g, '');
    expect(quantifiers).not.toMatch(/[*+]|,\}/);
  }
});

test('the parser throws nothing but its typed error, whatever the text', () => {
  const pieces = fc.string({ unit: fc.constantFrom(...PIECES, ...PREFIXES), maxLength: 60 });
  fc.assert(
    fc.property(fc.oneof(pieces, fc.string({ unit: 'binary' })), fc.nat(1), (text, round) => {
      outcomeOf(() => parsePlan(text, { ...CONTEXT, round }));
    }),
    { numRuns: tries(3000) },
  );
});

test('"all" is not resolved if there are too many steps anyway', () => {
  const count = 100_000;
  const text = `model_id = [${'0,'.repeat(count)}] subtasks = [${'"a",'.repeat(count)}] access_list = "all"`;
  expect(outcomeOf(() => parsePlan(text, CONTEXT))).toMatchObject({ code: 'too_many_steps' });
});

test('any reply gives a plan or a typed error with a short message, in linear time', () => {
  fc.assert(
    fc.property(hostileText(PIECES), (text) => {
      const looks = countLooks(() => {
        const outcome = outcomeOf(() => parsePlan(text, CONTEXT));
        if (outcome instanceof PlanError) expect(outcome.message.length).toBeLessThan(1024);
      });
      expect(looks).toBeLessThan(25 * (text.length + 100));
    }),
    { numRuns: tries(25) },
  );
});

test('any texts make prompts of proportional length, in linear time', () => {
  const text = hostileText(TAGS, LONGEST_TEXT / 4);
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
          const toWorker = workerMessages({ question, subtask, background, sees, layout });
          expect(lengthOf(toWorker)).toBeLessThan(given + WORDING);
          const repairs = [{ reply: output, problem: 'no plan' }];
          const pool = {
            workers: [{ id: 'a', notes: 'good' }],
            describe: 'notes',
            access: 'any',
            maxSteps: 5,
          } as const;
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
    { numRuns: tries(25) },
  );
});

type Method = (this: unknown, ...input: unknown[]) => unknown;

/** Replaces a method by one that also reports each use; returns a function that restores it. */
function watch(prototype: object, name: string, report: (used: Use) => void): () => void {
  const original = Reflect.get(prototype, name) as Method;
  const watched: Method = function (...input) {
    const from = this instanceof RegExp ? this.lastIndex : Number(input[1] ?? 0);
    const result = original.apply(this, input);
    report({ self: this, input, from, result });
    return result;
  };
  Reflect.set(prototype, name, watched);
  return () => Reflect.set(prototype, name, original);
}

interface Use {
  readonly self: unknown;
  readonly input: readonly unknown[];
  /** Start position of a search. */
  readonly from: number;
  readonly result: unknown;
}

/**
 * Counts the characters that a run looks at through the parser's reader, patterns and string searches: a measure of its
 * time without a clock.
 */
function countLooks(run: () => void): number {
  let looks = 0;
  const restore = [
    watch(patterns.ReplyReader.prototype, 'peek', () => (looks += 1)),
    watch(RegExp.prototype, 'exec', ({ self, input, from, result }) => {
      looks += 1 + charactersSearched(self, String(input[0]), from, result);
    }),
    watch(String.prototype, 'indexOf', ({ self, from, result }) => {
      looks += result === -1 ? String(self).length - from : Number(result) - from;
    }),
    watch(String.prototype, 'lastIndexOf', ({ from, result }) => (looks += from - Number(result))),
    watch(String.prototype, 'slice', ({ result }) => (looks += String(result).length)),
  ];
  try {
    run();
    return looks;
  } finally {
    for (const back of restore) back();
  }
}

/** Counts the characters searched: a sticky pattern tries one position, others go on to a match or to the end. */
function charactersSearched(pattern: unknown, text: string, from: number, match: unknown): number {
  if (Array.isArray(match)) return Number(Reflect.get(match, 'index')) - from + String(match[0]).length;
  return pattern instanceof RegExp && pattern.sticky ? 0 : text.length - from;
}
