import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { median, seconds, time } from './numbers.mjs';
import { FOUR_CALLS } from './plans.mjs';
import { rate } from './rows.mjs';
import { configFor, databaseIn, LIB, spawnProviders } from './setting.mjs';

/** Measures a whole `solve` command, with its own server and answers that take no time. */
export async function measureStart(server, { starts }) {
  const providers = await spawnProviders({ delayMs: 0, answerBytes: 100, plan: FOUR_CALLS });
  const times = [];
  for (let run = 1; run <= starts; run += 1) {
    const cwd = join(server.folder, `start-${run}`);
    await mkdir(cwd);
    await writeFile(
      join(cwd, 'conductor.yaml'),
      JSON.stringify(configFor(providers.url, databaseIn(cwd), 'start')),
    );
    times.push(await time(() => solveIn(cwd)));
  }
  await providers.close();
  const aim = { good: 2500, excellent: 1500, show: seconds };
  return [rate('`solve` from start to end, new server and database', median(times), aim)];
}

async function solveIn(cwd) {
  const env = { ...process.env };
  delete env.TEMPORAL_ADDRESS;
  const args = [join(LIB, 'cli', 'main.js'), 'solve', 'How long does it take?'];
  const child = spawn(process.execPath, args, { cwd, env, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`solve ended with ${code} in ${cwd}`);
}
