import fc from 'fast-check';
import { parsePlan } from '../../src/plan/parse';
import * as patterns from '../../src/plan/reply/reader';
import { countLooks } from './count-looks';
import { outcomeOf } from './outcome';
import { CONTEXT } from './replies';

const HOSTILE = [
  '[',
  '{',
  '"',
  "'",
  '\\',
  '\0',
  '\ud800',
  '`',
  '""',
  'model_id = [',
  'steps = [{',
  'access:\n- "a\n',
];
const UNITS = [
  ...HOSTILE,
  ...[
    ']',
    '}',
    '“',
    '’',
    '\\u',
    ',',
    '#',
    '//',
    '/',
    ':',
    '=',
    '\n',
    ' ',
    '"\n',
    '" ',
    '" ,',
    '","',
    "' , \n",
    '[[',
    '[]',
  ],
  ...[
    '{"a":',
    '- ',
    '1. x\n',
    'model_id',
    'model_id:\n',
    '[\n0 #',
    'model_id = ["',
    'subtasks = ["a"]\n',
    '<think>',
  ],
  ...[
    'access_list: all\n',
    '</think>',
    '<think>model_id = [0]</think>',
    'model_id=[0] subtasks=["a"] access_list=[[]] ',
  ],
];
const PREFIXES = ['', 'model_id = [', 'subtasks = ["', 'steps = [{"subtask": "', 'access_list:\n- '];

test.each(HOSTILE)('a megabyte of %j gives a plan or a typed error', (unit) => {
  const text = `subtasks = [${unit.repeat((1024 * 1024) / unit.length)}`;
  outcomeOf(() => parsePlan(text, CONTEXT));
});

test.each(UNITS)('%j is looked at a bounded number of times, however often it comes', (unit) => {
  for (const prefix of PREFIXES) {
    const text = prefix + unit.repeat(1000);
    expect(countLooks(() => outcomeOf(() => parsePlan(text, CONTEXT)))).toBeLessThan(20 * text.length);
  }
});

test('no pattern can search without bound', () => {
  const found = Object.values(patterns).filter((value) => value instanceof RegExp);
  expect(found).toHaveLength(7);
  for (const { source } of found) {
    const quantifiers = source.replace(/\\./g, '').replace(/\[[^\]]*\]/g, '');
    expect(quantifiers).not.toMatch(/[*+]|,\}/);
  }
});

test('no text whatever makes the parser throw anything but its typed error', () => {
  const pieces = fc.string({ unit: fc.constantFrom(...UNITS, ...PREFIXES, '0', 'all', 'a'), maxLength: 60 });
  fc.assert(
    fc.property(fc.oneof(pieces, fc.string({ unit: 'binary' })), fc.nat(1), (text, round) => {
      outcomeOf(() => parsePlan(text, { ...CONTEXT, round }));
    }),
    { numRuns: 3000 },
  );
});

test('"all" is not resolved for steps that are too many anyway', () => {
  const count = 100_000;
  const text = `model_id = [${'0,'.repeat(count)}] subtasks = [${'"a",'.repeat(count)}] access_list = "all"`;
  expect(outcomeOf(() => parsePlan(text, CONTEXT))).toMatchObject({ code: 'too_many_steps' });
});
