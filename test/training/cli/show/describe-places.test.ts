import { describePlaces } from '../../../../src/training/cli/show';

test.each([
  [[], ''],
  [[7], '7'],
  [[0, 2, 3, 4, 9], '0, 2–4, 9'],
])('%j is written as %j', (places, text) => {
  expect(describePlaces(places)).toBe(text);
});
