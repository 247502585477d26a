import { misjudged, readPairs } from './pairs';

// Without math-verify, which is optional.
beforeAll(() => (process.env.CONDUCTOR_PYTHON = '/no/python'));

test('the first tier alone judges at least 300 pairs of our own correctly', async () => {
  expect(readPairs().length).toBeGreaterThanOrEqual(300);
  expect(await misjudged()).toEqual([]);
});
