import { PLAIN, widthOf } from '../../../src/trace/lines';
import type { TrainedNight } from '../../../src/training/client';
import { describePlanner } from '../../../src/cli/train/checkpoints';
import { describeSchedule } from '../../../src/cli/train/night';
import { describeRewards, drawNight, drawTrained, sparkline } from '../../../src/cli/train/status';
import type { NightProgress, TrainableConfig } from '../../../src/training';
import { aNight } from '../../training/client/keep-run';
import { madeUpCycles } from '../../report/made-up-cycles';

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
  const now = Date.parse(STARTED) + 50 * 60_000;
  return drawNight({ ...NIGHT, ...change }, { paint: PLAIN, columns, now });
}

test('a running night shows its progress, what it learned, what it spent and how long it still takes', () => {
  expect(draw()).toEqual([
    'nightly · night 2026-11-21 · running',
    'cycle 25 done of cycles 21 to 40 · rollouts',
    'reward ▁▂▃▅█ 0.500 → 0.900 · best held out 0.875: nightly/000024',
    '$1.23 spent · 50 min so far · about 2 h to go',
  ]);
});

const JUST_BEGUN = { cycles: { first: 0, last: 0 }, done: 0, phase: 'opening', rewards: [], best: null };

test.each<[string, Partial<NightProgress>, string[]]>([
  ['what went wrong without harm stands below', { warning: 'the disk is full' }, ['the disk is full']],
  [
    'one that has just begun has nothing to reckon by',
    JUST_BEGUN,
    ['opening', '$1.23 spent · 50 min so far'],
  ],
  ['one that is held is not reckoned', { status: 'paused' }, ['$1.23 spent · 50 min so far']],
  ['nor one at its gate', { status: 'gate', done: 40 }, ['$1.23 spent · 50 min so far']],
])('drawing a night: %s', (_, change, end) => {
  expect(draw(change).slice(-end.length)).toEqual(end);
});

test.each([40, 60, 80, 120])('at %i columns no line is too wide, and nothing is left out', (columns) => {
  const warning =
    "old checkpoints were left on the trainer's disk: it is full; the next night tries it again";
  const lines = draw({ warning, rewards: Array.from({ length: 99 }, (_, cycle) => cycle / 99) }, columns);
  expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
  const text = lines.join(' ').replace(/\s+/g, ' ');
  for (const part of ['cycle 25 done of cycles 21 to 40', 'rollouts', 'about 7 min to go', warning]) {
    expect(text).toContain(part);
  }
});

const DECIDED: TrainedNight = {
  ...aNight({ last: 60, done: 60, checkpoint: { trainRun: 'nightly', name: '000060' }, closedAt: STARTED }),
  decision: Array.from({ length: 30 }, (_, place) => `nightly/${place} does not replace it,`).join(' '),
  cycles: madeUpCycles(60),
};

test.each([40, 60, 80, 120, Infinity])(
  'the sentences of a night fit into %f columns without being cut',
  (columns) => {
    const lines = drawTrained(DECIDED, { paint: PLAIN, columns });
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
    const text = lines.join(' ').replace(/\s+/g, ' ');
    expect(text).toContain(DECIDED.decision);
    expect(text).toMatch(/^2026-11-21 60 cycles ·? ?reward .* → .*nightly\/000060/);
  },
);

test('shows a collapse of the policy below the decision for as long as it lasts', () => {
  const collapse = 'since cycle 55 all plans have the same shape';
  const [before = [], last = []] = [0, 1].map((held) => {
    const cycles = madeUpCycles(2).map((each, index) => ({
      ...each,
      collapse: index === held ? collapse : null,
    }));
    return drawTrained({ ...DECIDED, cycles }, { paint: PLAIN, columns: Infinity });
  });
  expect(last).toEqual([...before, `  ${collapse}`]);
});

test.each([
  ['by the configured Conductor (openai m), whatever serves', { provider: 'openai', model: 'm' }],
  ['by run/000007, whatever serves', { provider: 'policy', checkpoint: 'run/000007' }],
  ['by nightly/000060', { provider: 'policy' }],
])('plans are written %s', (words, conductor) => {
  const config = { conductor } as Pick<TrainableConfig, 'conductor'>;
  expect(describePlanner(config, DECIDED.checkpoint)).toContain(words);
  if (words.startsWith('by nightly')) expect(describePlanner(config, null)).toContain('solves fail');
});

test('a sparkline spans the least to the greatest number, and never has more bars than there is room for', () => {
  expect(sparkline([0, 1, 0.5], 10)).toBe('▁█▅');
  expect(sparkline([0.3, 0.3], 10)).toBe('▅▅');
  // A tiny difference is not drawn as a fall from top to bottom.
  expect(sparkline([0.998, 0.996], 10)).toBe('▅▄');
  // Each bar is the mean of three values.
  expect(sparkline([0, 0, 0, 1, 1, 1, 2, 2, 2], 3)).toBe('▁▅█');
  expect(sparkline([...Array(1000).keys()], 48)).toHaveLength(48);
  // A first cycle alone has no curve.
  expect(describeRewards([0.5], 10)).toBe('reward 0.500');
});

test('the next nights are shown in the local time of their zone', () => {
  const schedule = { id: 'train-nightly', timeZone: 'Europe/Berlin', isPaused: false, note: null };
  const days = ['27T02:30', '28T01:30', '29T01:30', '30T01:30'];
  const next = days.map((day) => new Date(`2027-03-${day}Z`));
  const times = 'Sat, 27 Mar 2027, 03:30 · Sun, 28 Mar 2027, 03:30 · Mon, 29 Mar 2027, 03:30';
  expect(describeSchedule({ ...schedule, next })).toBe(`next ${times} (Europe/Berlin)`);
  expect(describeSchedule({ ...schedule, next: [] })).toBe('is never due again');
  const paused = describeSchedule({ ...schedule, next, isPaused: true, note: 'it failed' });
  expect(paused).toContain('is paused: it failed; resume it with');
});
