import { misjudged, readPairs } from './pairs';

// Without math-verify, which a machine need not have.
beforeAll(() => (process.env.CONDUCTOR_PYTHON = '/no/python'));

test('at least 300 pairs of our own are judged right by the first tier alone', async () => {
  expect(readPairs().length).toBeGreaterThanOrEqual(300);
  expect(await misjudged()).toEqual([]);
});
