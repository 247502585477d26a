// What every demo has: a folder, simulated models, the command `temporal-conductor`, and an end that leaves nothing behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSimulatedProviders } from '../../lib/testing/index.js';

const COMMAND = fileURLToPath(new URL('../../lib/cli/main.js', import.meta.url));
const INTERRUPTED = 130;

/** Plays a demo in a folder of its own, and returns its exit code. It cleans up at the end, also when interrupted. */
export async function playOnStage({ intro, models, configuration, play }) {
  const interruption = new AbortController();
  const { signal: interrupted } = interruption;
  /** Running commands. */
  const running = new Set();
  const stopAll = () => {
    for (const child of running) child.kill('SIGINT');
  };
  const interrupt = () => {
    interruption.abort();
    stopAll();
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, interrupt);
  // The reader of the output has closed it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', interrupt);

  say(...intro);
  const folder = mkdtempSync(join(tmpdir(), 'conductor-demo-'));
  const providers = await startSimulatedProviders({ models });

  /** Starts `temporal-conductor` in the demo's folder, on this terminal. */
  const start = (args, stdio = ['ignore', 'inherit', 'inherit']) => {
    interrupted.throwIfAborted();
    const child = spawnCommand(folder, args, stdio);
    running.add(child);
    const ended = once(child, 'close').then(([code]) => {
      running.delete(child);
      interrupted.throwIfAborted();
      return code;
    });
    return { child, ended };
  };
  const readJson = async (...args) => {
    const { child, ended } = start([...args, '--json'], ['ignore', 'pipe', 'inherit']);
    const [report] = await Promise.all([text(child.stdout), ended]);
    return JSON.parse(report);
  };
  const wait = (ms) => pause(ms, undefined, { signal: interrupted });

  let code = INTERRUPTED;
  try {
    writeFileSync(join(folder, 'conductor.yaml'), configuration(providers.url));
    code = await play({ folder, providers, start, readJson, wait, kill });
  } catch (error) {
    if (!interrupted.aborted) throw error;
  } finally {
    stopAll();
    await stopServer(folder);
    await providers.close();
    rmSync(folder, { recursive: true, force: true });
  }
  if (!interrupted.aborted) return code;
  say('', 'Interrupted. The demo has removed its run and its folder.');
  return INTERRUPTED;
}

async function kill({ child, ended }) {
  child.kill('SIGKILL');
  await ended;
  // Shows the cursor, which the killed live view had hidden.
  if (process.stderr.isTTY) process.stderr.write('\u001B[?25h\n');
}

/** Spawns in a separate process group: Ctrl-C reaches only the demo, which forwards it once. */
function spawnCommand(folder, args, stdio) {
  // Drops the user's own settings and keys.
  const isTheirs = (name) => /^TEMPORAL_(?!CLI_PATH$)|^CONDUCTOR_(?!CACHE$)|_API_KEY$/.test(name);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isTheirs(name)));
  return spawn(process.execPath, [COMMAND, ...args], { cwd: folder, env, stdio, detached: true });
}

/** Stops Temporal, which outlives a killed command, by running another command that uses it. */
async function stopServer(folder) {
  if (!existsSync(join(folder, '.conductor', 'server.json'))) return;
  await once(spawnCommand(folder, ['trace', 'none'], 'ignore'), 'close');
}

/** Compares the ledger with what the simulated providers billed, and returns whether every answer was paid for once. */
export async function compareBills({ providers, readJson }, ...notes) {
  const { total } = await readJson('cost', '--by', 'worker');
  const answered = providers.log.filter(({ outcome }) => outcome === 'answered');
  const calls = new Set(answered.map(({ headers }) => headers['x-client-request-id']));
  const billed = answered.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0);
  title('According to the providers’ own log:');
  say(
    `${providers.log.length} requests: ${[`${answered.length} answered`, ...notes].join(', ')}.`,
    `${usd(billed)} billed, ${usd(total.nanoUsd)} in the ledger.`,
  );
  const isRight = calls.size === answered.length && billed === total.nanoUsd;
  say(isRight ? 'No answered call was paid for twice.' : 'This is a bug: please report it.');
  return isRight;
}

function usd(nanoUsd) {
  return `$${(nanoUsd / 1e9).toFixed(6)}`;
}

export function title(...lines) {
  say('', ...lines.map((line) => (process.stdout.isTTY ? `\u001B[1m${line}\u001B[22m` : line)));
}

export function say(...lines) {
  process.stdout.write(`${lines.join('\n')}\n`);
}
