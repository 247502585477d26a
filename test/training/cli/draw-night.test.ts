import { PLAIN, widthOf } from '../../../src/trace/lines';
import { sparkline } from '../../../src/training/cli/list';
import { describeHours, drawNight } from '../../../src/training/cli/status';
import type { NightProgress } from '../../../src/training/progress';

const STARTED = '2026-11-21T02:30:00.000Z';
const NIGHT: NightProgress = {
  trainRun: 'nightly',
  night: '2026-11-21',
  status: 'running',
  cycles: { first: 21, last: 40 },
  done: 25,
  phase: 'rollouts',
  spentNanoUsd: 1_234_500_000,
  startedAt: STARTED,
  rewards: [0.5, 0.56, 0.62, 0.72, 0.9],
  best: { checkpoint: 'nightly/000024', heldOut: 0.875 },
  warning: null,
};

function draw(change: Partial<NightProgress> = {}, columns = 100): string[] {
  return drawNight(
    { ...NIGHT, ...change },
    { paint: PLAIN, columns, now: Date.parse(STARTED) + 50 * 60_000 },
  );
}

test('a night is seen at a glance: how far, what it learned, what it spent, how long it takes yet', () => {
  expect(draw()).toEqual([
    'nightly · night 2026-11-21 · running',
    '████████░░░░░░░░░░░░░░░░░░░░░░░░ cycle 25 done of cycles 21 to 40 · rollouts',
    'reward ▁▂▃▅█ 0.500 → 0.900  best held out 0.875: nightly/000024',
    '$1.23 spent · 50 min so far · about 2 h 30 min to go',
  ]);
});

test('what went wrong without harm is told below', () => {
  expect(draw({ warning: "old checkpoints were left on the trainer's disk" }).at(-1)).toBe(
    "old checkpoints were left on the trainer's disk",
  );
});

test('a night that has just begun has nothing to reckon by, and says nothing of it', () => {
  expect(
    draw({
      cycles: { first: 0, last: 0 },
      done: 0,
      phase: 'opening',
      rewards: [],
      best: null,
      spentNanoUsd: null,
    }),
  ).toEqual([
    'nightly · night 2026-11-21 · running',
    `${'░'.repeat(32)} opening`,
    'cost unknown · 50 min so far',
  ]);
});

test('nobody is told how long a night takes that is held, or at its gate', () => {
  expect(draw({ status: 'paused' }).at(-1)).toBe('$1.23 spent · 50 min so far');
  expect(draw({ status: 'gate', done: 40 })[1]).toContain('█'.repeat(32));
});

test('no line of words is wider than a narrow terminal', () => {
  const [title = '', , , sums = ''] = draw({}, 40);
  expect(widthOf(title)).toBeLessThanOrEqual(40);
  expect(widthOf(sums)).toBeLessThanOrEqual(40);
});

test('a sparkline has the least number lowest and the greatest highest, and never more bars than room', () => {
  expect(sparkline([0, 1, 0.5], 10)).toBe('▁█▅');
  expect(sparkline([0.3, 0.3], 10)).toBe('▅▅');
  expect(sparkline([], 10)).toBe('');
  // Means of three values each.
  expect(sparkline([0, 0, 0, 1, 1, 1, 2, 2, 2], 3)).toBe('▁▅█');
  expect(
    sparkline(
      Array.from({ length: 1000 }, (_, place) => place),
      48,
    ),
  ).toHaveLength(48);
});

test('a time is told in minutes', () => {
  expect([29_000, 61_000, 59 * 60_000, 185 * 60_000].map(describeHours)).toEqual([
    'under a minute',
    '1 min',
    '59 min',
    '3 h 5 min',
  ]);
});
