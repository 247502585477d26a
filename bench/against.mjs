/**
 * `npm run bench -- against FOLDER`: compares this build with a built checkout of another commit. Both run in turn
 * against one server, so that noise on the machine affects them alike. Prints ratios; asserts nothing.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, milliseconds, time } from './numbers.mjs';
import { FOUR_CALLS } from './plans.mjs';
import { configFor, databaseIn, openServer, spawnProviders } from './setting.mjs';
import { startSolver, timeInTurns } from './solver.mjs';

const ROUNDS = 20;
const SOLVES = 40;
const WIDTH = 10;
const STARTS = 5;

const [other] = process.argv.slice(2);
if (other === undefined || !existsSync(join(other, 'lib'))) {
  throw new Error(
    `there is no lib/ in ${other ?? 'no folder'}: name that of another build, as in against FOLDER`,
  );
}
const builds = { this: fileURLToPath(new URL('..', import.meta.url)), other: resolve(other) };

const server = await openServer();
const providers = await spawnProviders({ delayMs: 0, answerBytes: 100, plan: FOUR_CALLS });
try {
  report('processor time of a solve, server excluded', await measureSolves());
  report('`solve` from start to end, new server and database', await measureStarts());
} finally {
  await providers.close();
  await server.close();
}

/** Returns the processor time per solve in milliseconds, one value per round. */
function measureSolves() {
  const solvers = Object.fromEntries(
    Object.entries(builds).map(([name, root]) => [
      name,
      startSolver({ server, providers }, { name, root, width: WIDTH }),
    ]),
  );
  return timeInTurns(solvers, { rounds: ROUNDS, solves: SOLVES });
}

/** Returns the milliseconds from the command's start to its end, one value per start. */
async function measureStarts() {
  const times = { this: [], other: [] };
  for (let start = 0; start < STARTS; start += 1) {
    for (const [name, root] of Object.entries(builds)) {
      const cwd = join(server.folder, `start-${name}-${start}`);
      await mkdir(cwd);
      const config = configFor(providers.url, databaseIn(cwd), 'start');
      await writeFile(join(cwd, 'conductor.yaml'), JSON.stringify(config));
      times[name].push(await time(() => solveIn(cwd, root)));
    }
  }
  return times;
}

async function solveIn(cwd, root) {
  const env = { ...process.env };
  delete env.TEMPORAL_ADDRESS;
  const args = [join(root, 'lib/cli/main.js'), 'solve', 'How long does it take?'];
  const [code] = await once(spawn(process.execPath, args, { cwd, env, stdio: 'ignore' }), 'exit');
  if (code !== 0) throw new Error(`solve of the build in ${root} ended with ${code} in ${cwd}`);
}

/** Prints the median of the per-round ratios, since noise in a round affects both builds. */
function report(what, times) {
  const ratio = median(times.this.map((own, round) => own / times.other[round]));
  const [own, other] = [median(times.this), median(times.other)].map(milliseconds);
  console.log(`${what}: × ${ratio.toFixed(2)} (${own} to ${other})`);
}
