import type { Victim } from './kill-script';
import { drawKills } from './kill-script';
import { KillAtMilestones } from './kill-at-milestones';

test('a seed always draws the same kills, and another seed others', () => {
  expect(drawKills(7, 200, 50)).toEqual(drawKills(7, 200, 50));
  expect(drawKills(7, 200, 50)).not.toEqual(drawKills(8, 200, 50));
});

test.each([4, 50])(
  'of %d kills every victim has its part, and all come due before the runs are over',
  (count) => {
    const kills = drawKills(11, 200, count);
    expect(kills).toHaveLength(count);
    expect(new Set(kills.map(({ victim }) => victim))).toEqual(
      new Set<Victim>(['worker', 'server', 'providers', 'frozen worker']),
    );
    for (const { milestone, count: due } of kills) {
      expect(due).toBeGreaterThanOrEqual(1);
      expect(due).toBeLessThanOrEqual(milestone === 'ends' ? 180 : 450);
    }
  },
);

test('strikes when its count is reached, one after the other', async () => {
  const script = new KillAtMilestones([
    { victim: 'server', milestone: 'requests', count: 2 },
    { victim: 'worker', milestone: 'ends', count: 1 },
    { victim: 'providers', milestone: 'requests', count: 9 },
  ]);
  const told: string[] = [];
  script.begin(async (victim) => {
    told.push(`kill ${victim}`);
    await Promise.resolve();
    told.push(`${victim} is back`);
  });
  script.count('requests');
  await script.settle();
  expect(told).toEqual([]);

  script.count('requests');
  script.count('ends');
  await script.settle();
  expect(told).toEqual(['kill server', 'server is back', 'kill worker', 'worker is back']);
  expect(script.kills.map(({ victim }) => victim)).toEqual(['server', 'worker']);
});

test('a successor that does not come is told', async () => {
  const script = new KillAtMilestones([{ victim: 'server', milestone: 'ends', count: 1 }]);
  script.begin(() => Promise.reject(new Error('its port is taken')));
  script.count('ends');
  await expect(script.settle()).rejects.toThrow('its port is taken');
});
