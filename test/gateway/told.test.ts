import type { LiveEvent } from '../../src/client';
import { AnswerTeller } from '../../src/gateway/solve/told';

const PLACE = { childId: null, round: 0, step: 1, attempt: 1, cursor: '' };
const STEP = { subtask: 'Count.', sees: [] };
const PLANNED = {
  kind: 'planned',
  childId: null,
  round: 0,
  plan: {
    steps: [
      { worker: 'a', ...STEP },
      { worker: 'b', ...STEP },
    ],
  },
} as unknown as LiveEvent;

function told(...events: object[]): unknown[] {
  const teller = new AnswerTeller();
  return [PLANNED, ...(events as LiveEvent[])]
    .flatMap((event) => [...teller.tell(event)])
    .filter(({ kind }) => kind !== 'progress');
}

const text = (delta: string, offset = 0): object => ({ kind: 'text', ...PLACE, offset, delta });
const ended = (answer: string): object => ({ kind: 'ended', answer, cursor: '' });

test("an answer step's white space is told only with text after it", () => {
  const whole = [
    { kind: 'delta', text: ' \n Ei' },
    { kind: 'delta', text: 'ght.' },
  ];
  expect(told(text(' '), text('\n Ei', 1), text('ght.', 5), ended(' \n Eight.'))).toEqual(whole);
});

test('if the answer step wrote only white space, the answer is an earlier output, whole', () => {
  expect(told(text(' \n'), ended('Seven.'))).toEqual([{ kind: 'delta', text: 'Seven.' }]);
});

test("white space of an abandoned attempt is no part of the next one's text", () => {
  const restarted = { kind: 'restarted', ...PLACE, attempt: 2 };
  expect(told(text(' '), restarted, text('Eight.'), ended('Eight.'))).toEqual([
    { kind: 'delta', text: 'Eight.' },
  ]);
});

test('thoughts of the answer step are told apart from its text, those of other steps not at all', () => {
  const thoughts = (delta: string, step: number): object => ({ kind: 'thoughts', ...PLACE, step, delta });
  expect(told(thoughts('A?', 0), thoughts('Six?', 1), text('Eight.'), ended('Eight.'))).toEqual([
    { kind: 'thoughts', text: 'Six?' },
    { kind: 'delta', text: 'Eight.' },
  ]);
});

test('a caller is told which tool a step calls, and what came of it unless all is well', () => {
  const place = { ...PLACE, worker: 'b', turn: 0, ordinal: 0, name: 'shelf__look_up' };
  const called = { kind: 'toolCalled', ...place, arguments: '{"word":"a\n\u001b[2Jb"}' };
  const endedAs = (outcome: string): object => ({ kind: 'toolEnded', ...place, outcome, ms: 41 });
  const teller = new AnswerTeller();
  const events = [called, endedAs('ok'), endedAs('denied')] as LiveEvent[];
  expect(events.flatMap((event) => [...teller.tell(event)])).toEqual([
    { kind: 'progress', line: 'Step 2 calls shelf__look_up {"word":"a [2Jb"}' },
    { kind: 'progress', line: 'Step 2, shelf__look_up: denied' },
  ]);
});

test('what was said before calls of tools stands, and the answer begins after it', () => {
  const restarted = { kind: 'restarted', ...PLACE, attempt: 2, isCommentary: true };
  expect(told(text('Let me look.'), restarted, text('Eight.'), ended('Eight.'))).toEqual([
    { kind: 'delta', text: 'Let me look.' },
    { kind: 'commented' },
    { kind: 'delta', text: 'Eight.' },
  ]);
});

test('an answer whose beginning was told before comes whole, at the end', () => {
  expect(told(text('ght.', 2), ended('Eight.'))).toEqual([{ kind: 'delta', text: 'Eight.' }]);
});
