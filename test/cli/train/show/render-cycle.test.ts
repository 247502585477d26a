import { renderCycle } from '../../../../src/cli/train/show';
import { step } from '../../../support/step';
import { madeUpCycles } from '../../../report/made-up-cycles';
import { aGroup, aRollout } from './a-group';

const TEAM = { steps: [step('quick', 'Write the equation down.'), step('scholar', 'Solve it.', [0])] };

test('shows a cycle group by group, equal plans together and the best rewarded first', () => {
  const lost = { answer: null, reward: null };
  const groups = [
    aGroup([
      aRollout(0, { verdict: 'wrong', reward: 0.5, answer: '41' }),
      aRollout(1, { plan: TEAM }),
      aRollout(2, { plan: TEAM }),
      aRollout(3, {
        ...lost,
        plan: null,
        problem: 'model_id is missing.',
        verdict: 'unparseable',
        reward: 0,
      }),
      aRollout(4, { ...lost, verdict: 'ungraded', invalidBecause: 'quick was out of order' }),
    ]),
  ];
  expect(renderCycle({ trainRun: 'nightly', cycle: 3, metrics: null, groups }).split('\n')).toEqual([
    'nightly cycle 3  under way',
    '└─ Group 0  algebra-17 · reward 0.625 (0 to 1) · 5 rollouts · plans by nightly/000002',
    '   │  workers, in the order of the prompt: quick, scholar',
    '   │  workflow nightly-000003-0',
    '   ├─ 2 × 1  2 correct',
    '   │     1 quick: Write the equation down.',
    '   │     2 scholar sees 1: Solve it.',
    '   │     → 42 (2 times)',
    '   ├─ 2 × 0.5  1 wrong, 1 ungraded',
    '   │     1 quick: Answer.',
    '   │     → 41',
    '   │     invalid because quick was out of order',
    '   └─ 1 × 0  1 unparseable',
    '         no plan: model_id is missing.',
  ]);
});

test('sums up a finished cycle, with what it imitated, and says if a review accepts the answer', () => {
  const [made] = madeUpCycles(1);
  const metrics = made === undefined ? null : { ...made, imitation: { loss: 0.25, seconds: 4 } };
  const groups = [aGroup([aRollout(0, { plan: { steps: [] } })], { round: 1 })];
  const lines = renderCycle({ trainRun: 'made-up', cycle: 1, metrics, groups }).split('\n');
  expect(lines[1]).toMatch(
    /^│ {2}checkpoint 000001 · reward 0\.9\d+ ± 0\.\d+ · 99\.\d% plans.* · imitated right plans, loss 0\.25$/,
  );
  expect(lines[2]).toContain('round 2 · every reward 1');
  expect(lines.join('\n')).toContain('accepts the first answer');
});
