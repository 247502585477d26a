import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { configFor, databaseIn } from './setting.mjs';

/**
 * Starts a worker with a client of one build in a process of its own, which solves as many questions as it is told to.
 * @param root folder of the build
 * @param env further variables of the process
 */
export function startSolver({ server, providers }, { name, root, width, env = {} }) {
  const config = configFor(providers.url, databaseIn(join(server.folder, 'stores', name)), `solver-${name}`);
  const program = fileURLToPath(new URL('programs/solves.mjs', import.meta.url));
  const own = { TEMPORAL_ADDRESS: server.address, BENCH_CONFIG: JSON.stringify(config) };
  const child = spawn(process.execPath, [program, root, String(width)], {
    env: { ...process.env, ...own, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the build in ${root} ended before it answered`);
    return value;
  };
  return {
    ready: nextLine(),
    solve: async (count) => {
      child.stdin.write(`${count}\n`);
      return JSON.parse(await nextLine());
    },
    stop: () => child.stdin.end(),
  };
}

/**
 * Returns the processor time per solve of named solvers in milliseconds, one value per round. They take turns, so that
 * noise on the machine affects all alike.
 */
export async function timeInTurns(solvers, { rounds, solves }) {
  for (const solver of Object.values(solvers)) await solver.ready;
  // Warm-up: the first solves load modules and open connections.
  for (const solver of Object.values(solvers)) await solver.solve(solves);
  const times = Object.fromEntries(Object.keys(solvers).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, solver] of Object.entries(solvers)) {
      const { ownMs } = await solver.solve(solves);
      times[name].push(ownMs / solves);
    }
  }
  for (const solver of Object.values(solvers)) solver.stop();
  return times;
}
