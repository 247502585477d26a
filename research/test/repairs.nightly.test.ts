import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareClients } from '../../test/support/client-programs';
import { useOnce } from '../../test/support/use';
import { type Fault, FAULTS, failureIn, writeFault } from '../repairs/faults';
import { type Bench, openBench, WAYS } from '../repairs/measure';

jest.setTimeout(300_000);

test.each(FAULTS.map((fault) => [fault.name, fault] as const))(
  'the test of %s passes once it is repaired, and neither before nor for one who misreads it',
  async (_, fault) => {
    const folder = await mkdtemp(join(tmpdir(), 'fault-'));
    const fails = async (body: string): Promise<boolean> => {
      await writeFault(fault, folder, body);
      return (await failureIn(fault, folder)) !== null;
    };
    expect(await fails(fault.wrong)).toBe(true);
    expect(await fails(fault.misread)).toBe(true);
    expect(await fails(fault.right)).toBe(false);
    await rm(folder, { recursive: true, force: true });
  },
);

describe('the real Codex', () => {
  beforeAll(() => void prepareClients());
  const bench = useOnce(async (): Promise<Bench> => {
    const folder = await mkdtemp(join(tmpdir(), 'repairs-'));
    const opened = await openBench(folder);
    const close = async (): Promise<void> => {
      await opened.close();
      await rm(folder, { recursive: true, force: true });
    };
    return { ...opened, close };
  });

  const faultOf = (name: string): Fault => {
    const fault = FAULTS.find((each) => each.name === name);
    if (fault === undefined) throw new Error(`there is no fault ${name}`);
    return fault;
  };

  // What the crew of seed 0 does: each turn is a call of a model, of which a team also pays for its plan and its first step.
  test.each([
    ['reduced', 'worker/counts', { isRepaired: true, turns: 5 }],
    ['reduced', 'worker/reads', { isRepaired: false, turns: 5 }],
    ['reduced', 'conductor, the last step calls', { isRepaired: true, turns: 9 }],
    ['mean', 'conductor, every step calls', { isRepaired: true, turns: 7 }],
  ])('has %s repaired by %s as its models can', async (name, asked, expected) => {
    const way = WAYS.find((each) => each.name === asked);
    if (way === undefined) throw new Error(`there is no way ${asked}`);
    const repair = await bench.repair(way, faultOf(name));
    expect(repair).toMatchObject(expected);
    expect(repair.usd).toBeGreaterThan(0);
  });
});
