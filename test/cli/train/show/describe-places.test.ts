import { describePlaces } from '../../../../src/cli/train/show/describe-places';

test.each([
  [[], ''],
  [[7], '7'],
  [[0, 2, 3, 4, 9], '0, 2–4, 9'],
])('%j is written as %j', (places, text) => {
  expect(describePlaces(places)).toBe(text);
});
