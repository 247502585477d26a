import assert from 'node:assert';
import fc from 'fast-check';
import { boundOf } from '../../src/budget/amount';
import type { SpendingLimits } from '../../src/protocol/cards';
import type { WorstCase } from '../../src/budget/worst-case';
import { Books, type Child, type Request, type UnderWay } from './books';

const RUNS = 10_000;

/** An event; `who` selects the run, call or child that it happens to. */
interface Event {
  readonly kind: 'reserve' | 'settle' | 'share' | 'return' | 'vanish' | 'setLimits';
  readonly who: number;
  readonly worst: WorstCase;
  readonly limits: SpendingLimits;
  /** Random bits that decide the outcomes of calls, five for each request. */
  readonly dice: number;
}

const amount = fc.nat({ max: 2000 });
const limits: fc.Arbitrary<SpendingLimits> = fc.record({
  calls: fc.integer({ min: 1, max: 30 }),
  tokens: fc.option(amount),
  nanoUsd: fc.option(amount),
});
const price = fc.oneof(fc.nat({ max: 300 }), fc.constantFrom(0, null));
const worst: fc.Arbitrary<WorstCase> = fc.oneof(
  { arbitrary: fc.record({ tokens: fc.integer({ min: 1, max: 300 }), nanoUsd: price }), weight: 9 },
  { arbitrary: fc.constant({ tokens: 0, nanoUsd: null }), weight: 1 },
);
const usual = fc.constantFrom<Event['kind']>('reserve', 'reserve', 'reserve', 'settle', 'settle');
const kind = fc.oneof(usual, fc.constantFrom<Event['kind']>('share', 'return', 'vanish', 'setLimits'));
const dice = fc.nat({ max: 2 ** 25 - 1 });
const events = fc.array(fc.record({ kind, who: fc.nat({ max: 1000 }), worst, limits, dice }), {
  maxLength: 30,
});

test('no schedule exceeds a limit, and everything set aside is given back exactly once', () => {
  fc.assert(
    fc.property(limits, events, dice, (first, schedule, last) => {
      const root = new Books(first);
      for (const event of schedule) {
        happen(root, event);
        expectHonest(root);
      }
      finish(root, last);
      expectHonest(root);
      assert.deepStrictEqual(root.account.committed, root.account.spentAtMost);
    }),
    { numRuns: RUNS },
  );
});

function expectHonest(root: Books): void {
  for (const books of liveBooks(root)) {
    assert.deepStrictEqual(books.account.spentAtMost, books.booked);
    assert.deepStrictEqual(books.account.committed, books.committed);
  }
  const { spentInAll: spent, told } = root;
  assert(spent.calls <= told.calls && spent.tokens <= told.tokens && spent.nanoUsd <= told.nanoUsd);
}

function happen(root: Books, event: Event): void {
  const live = liveBooks(root);
  const books = live[event.who % live.length] ?? root;
  HAPPENINGS[event.kind](books, event, books === root);
}

const HAPPENINGS: Readonly<Record<Event['kind'], (books: Books, event: Event, isRoot: boolean) => void>> = {
  reserve(books, { worst: atWorst }) {
    const expected = books.mostGenerous(atWorst);
    const mayFitLater = books.mostGenerous(atWorst, books.booked) !== null;
    const answer = books.account.reserve(atWorst);
    if ('limit' in answer) {
      assert(expected === null && answer.mayFitLater === mayFitLater);
      return;
    }
    assert.deepStrictEqual(answer.allowance, expected);
    books.begin(atWorst, answer);
  },

  settle(books, { who, dice: thrown }) {
    const call = pick([...books.calls], who);
    if (call !== undefined) settle(books, call, thrown);
  },

  share(books, { who }) {
    const share = books.account.share(1 + (who % 4));
    if ('limit' in share) return;
    assert(books.hasRoom(books.committed, boundOf(share.limits)));
    books.beginChild(share);
  },

  return(books, { who, dice: thrown }) {
    const child = pick([...books.children], who);
    if (child !== undefined) returnChild(books, child, thrown);
  },

  vanish(books, { who, dice: thrown }) {
    const child = pick([...books.children], who);
    if (child === undefined) return;
    spendUnheard(child.books, thrown);
    child.share.settle(null);
    books.endChild(child, true);
  },

  /** Changes the limits of the root; a child keeps those that it was given. */
  setLimits(books, event, isRoot) {
    if (!isRoot) return;
    books.account.setLimits(event.limits);
    books.setLimits(event.limits);
    assert.deepStrictEqual(boundOf(books.account.limits), books.told);
  },
};

function settle(books: Books, call: UnderWay, thrown: number): void {
  call.reservation.settle(books.end(call, outcome(call, thrown)));
}

function returnChild(books: Books, child: Child, thrown: number): void {
  finish(child.books, thrown);
  child.share.settle(child.books.account.spentAtMost);
  books.endChild(child, false);
}

/** Ends every call and child, and settles them. */
function finish(books: Books, thrown: number): void {
  for (const call of books.calls) settle(books, call, thrown);
  for (const child of books.children) returnChild(books, child, thrown);
}

/** Ends the calls under way, here and in children, without settling them. */
function spendUnheard(books: Books, thrown: number): void {
  for (const call of books.calls) books.end(call, outcome(call, thrown));
  for (const child of books.children) spendUnheard(child.books, thrown);
}

/** Draws as many requests as the call is allowed, billed or free, reported or not. */
function outcome(call: UnderWay, thrown: number): Request[] {
  const { worst: atWorst, held } = call;
  const billable = atWorst.tokens === 0 ? 1 : held.tokens / atWorst.tokens;
  return Array.from({ length: held.calls }, (_, index) => {
    const number = (thrown >> (5 * index)) & 31;
    const part = (number >> 2) / 7;
    const tokens = Math.floor(part * (atWorst.tokens === 0 ? 400 : atWorst.tokens));
    const nanoUsd = Math.floor(part * (atWorst.nanoUsd ?? 400));
    const tellings: Request['told'][] = ['all', 'tokens', 'nothing'];
    // A reported cost of 0 proves nothing, so it never counts as reported.
    if (nanoUsd > 0) tellings.push('cost');
    return { tokens, nanoUsd, told: index < billable ? (pick(tellings, number) ?? 'all') : 'free' };
  });
}

function liveBooks(books: Books): Books[] {
  return [books, ...[...books.children].flatMap((child) => liveBooks(child.books))];
}

function pick<T>(from: readonly T[], who: number): T | undefined {
  return from[who % Math.max(1, from.length)];
}
