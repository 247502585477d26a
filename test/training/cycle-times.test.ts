import { type CyclePart, cycleTimes, type Span } from '../../src/training/cycle-times';

function span(part: CyclePart, from: number, to: number): Span<CyclePart> {
  return { part, from, to };
}

it('counts what overlaps once, and what nothing covers as between', () => {
  const spans = [
    // Two groups side by side, the second one later.
    span('sampling', 10, 30),
    span('rollouts', 30, 80),
    span('grading', 80, 85),
    span('sampling', 12, 40),
    span('rollouts', 40, 90),
    span('grading', 90, 92),
    // Then nothing, until the batch is written.
    span('update', 100, 130),
    span('publish', 130, 140),
  ];
  expect(cycleTimes(spans, 0, 160)).toEqual({
    sampling: 30,
    rollouts: 60,
    grading: 7,
    update: 30,
    publish: 10,
    between: 160 - (92 - 10) - (140 - 100),
    whole: 160,
  });
});

it('takes nothing for between that was done ahead, in the cycle before', () => {
  const spans = [span('sampling', 10, 30), span('rollouts', 30, 110), span('update', 120, 150)];
  expect(cycleTimes(spans, 100, 160)).toMatchObject({
    sampling: 20,
    rollouts: 80,
    between: 60 - 10 - 30,
    whole: 60,
  });
});

it('calls a cycle that did nothing between altogether', () => {
  expect(cycleTimes([], 0, 5)).toMatchObject({ sampling: 0, update: 0, between: 5, whole: 5 });
});
