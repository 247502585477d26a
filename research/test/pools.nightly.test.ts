import { holdsForPools, type TeamScore, tellPools, tellTeams } from '../plain/pools';

const AB = ['a', 'b'];
const BC = ['b', 'c'];

/** Scores of two teams on four questions each, whose mean is this share of the best reward. */
function scores(share: number): TeamScore[] {
  return [AB, BC].flatMap((team) =>
    [-0.01, 0, 0, 0.01].map((luck) => ({
      team,
      reward: share * 0.8 + luck,
      best: 0.8,
      nanoUsd: share * 1e5,
    })),
  );
}

const weak = { own: scores(0.8), swapped: scores(0.8), joined: scores(0.8) };
const good = { own: scores(0.96), swapped: scores(0.85), joined: scores(0.9) };

test('the pool claim holds if unseen teams come near their optimum, and permuted notes cost reward', () => {
  expect(holdsForPools({ before: weak, after: good })).toBe(true);
  expect(tellPools({ before: weak, after: good })).toMatch(
    /^pools: held-out subsets ratio 0\.960 ± 0\.00\d \(start 0\.800, notes permuted 0\.850: less by 0\.110 ± 0\.000\), with a newcomer 0\.900 ± 0\.00\d \(start 0\.800\), USD for a thousand plans 0\.096 \(start 0\.080\)$/,
  );
  expect(tellTeams(good.own)).toBe('a+b 0.960  b+c 0.960');
});

test.each([
  ['stays below', weak, { ...good, own: scores(0.94) }],
  ['was there before', { ...weak, own: scores(0.955) }, good],
  ['does not read the notes', weak, { ...good, swapped: scores(0.96) }],
])('the pool claim does not hold if the policy %s', (_, before, after) => {
  expect(holdsForPools({ before, after })).toBe(false);
});
