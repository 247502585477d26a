import { useNights } from './support/nights';

const MINUTES = 10;
const nights = useNights(MINUTES);

test(
  'the same command has the next night, from what the last one learned',
  async () => {
    const have = (): Promise<string> => nights.have('--serve', 'cpu', '--cycles', '1');
    expect(await have()).toMatch(/the night of 2026-01-10 begins[^]*cycle 1: reward [^]*gate: /);
    expect(await have()).toMatch(/the night of 2026-01-11 begins[^]*cycle 2: reward [^]*gate: /);
  },
  3 * MINUTES * 60_000,
);

test(
  'a night that is asked to end leaves no process behind',
  async () => {
    const night = nights.start('--serve', 'cpu');
    while (!(await night.nextLine()).includes('begins'));
    await night.stop();
    expect(await night.ended()).toBe(1);
  },
  MINUTES * 60_000,
);
