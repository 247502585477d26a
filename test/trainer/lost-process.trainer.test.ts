import { readFileSync } from 'node:fs';
import { unlessAborted } from '../../src/runtime/turns';
import { childrenOf, openSurroundings, type Surroundings } from '../../research/support/surroundings';
import { SMALL_WORLD } from '../../research/world/world';
import { type Folder, makeFolder } from '../cli/folder';
import { connect, type TestTemporal } from '../support/temporal';

jest.setTimeout(120_000);

let folder: Folder;
let temporal: TestTemporal;
let surroundings: Surroundings;

beforeEach(async () => {
  folder = await makeFolder();
  temporal = await connect();
  surroundings = await openSurroundings({ world: SMALL_WORLD, seed: 1, warmStartSteps: 1 }, folder.path);
  await surroundings.startTrainer(temporal.address);
});

afterEach(async () => {
  await surroundings.close();
  await temporal.close();
  await folder.remove();
});

/** Returns the id of this test's child process that runs a program. */
function processOf(program: string): number {
  const found = childrenOf(process.pid).find((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program),
  );
  if (found === undefined) throw new Error(`no process runs ${program}`);
  return found;
}

test.each([
  ['The trainer', 'conductor_trainer.worker'],
  ['The policy server', 'conductor_trainer.policy_server'],
  ['The simulated world', 'world/serve.ts'],
])('a night ends at once when a process that it needs is lost: %s', async (name, program) => {
  const night = unlessAborted(surroundings.lost, new Promise<never>(() => undefined));
  process.kill(processOf(program), 'SIGSEGV');
  await expect(night).rejects.toThrow(new RegExp(`^${name} was ended by SIGSEGV`));
});

test('a process that is killed as planned and restarted does not count as lost', async () => {
  await surroundings.kill('policy server');
  await surroundings.kill('trainer');
  expect(surroundings.lost.aborted).toBe(false);
});
