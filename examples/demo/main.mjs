// `npm run demo`: a run with a rate limit, a killed process and a review, and its final cost.
//
// The models are simulated and follow script.mjs. Everything else is what any user has: the command
// `temporal-conductor`, its processes, Temporal and the store. It cleans up at the end, also when interrupted.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSimulatedProviders } from '../../lib/testing/index.js';
import { configuration, DOOMED, MODELS, QUESTION } from './script.mjs';

const COMMAND = fileURLToPath(new URL('../../lib/cli/main.js', import.meta.url));
const INTERRUPTED = 130;

const interruption = new AbortController();
const { signal: interrupted } = interruption;
/** The running command, or null. */
let running = null;

const interrupt = () => {
  interruption.abort();
  running?.kill('SIGINT');
};
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, interrupt);
// The reader of the output has closed it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', interrupt);

say(
  'A demo. The models are simulated and play a script: no key,',
  'no network, no real money. Temporal, the processes, the',
  'store and the kill are real.',
);
const folder = mkdtempSync(join(tmpdir(), 'conductor-demo-'));
const providers = await startSimulatedProviders({ models: MODELS });
try {
  writeFileSync(join(folder, 'conductor.yaml'), configuration(providers.url));
  process.exitCode = await play();
} catch (error) {
  if (!interrupted.aborted) throw error;
} finally {
  await stopServer();
  await providers.close();
  rmSync(folder, { recursive: true, force: true });
}
if (interrupted.aborted) {
  process.exitCode = INTERRUPTED;
  say('', 'Interrupted. The demo has removed its run and its folder.');
}

async function play() {
  title('Three models and a review. One model will answer 429.');
  const solving = start(['solve', QUESTION, '--max-depth', '1']);
  const doomed = providers.waitForRequest(({ model }) => model === DOOMED);
  const early = await Promise.race([solving.ended, doomed.then(() => null)]);
  if (early !== null) return early;
  // Lets the live view show the call before the kill.
  await wait(1500, undefined, { signal: interrupted });
  solving.child.kill('SIGKILL');
  await solving.ended;
  // Shows the cursor, which the killed live view had hidden.
  if (process.stderr.isTTY) process.stderr.write('\u001B[?25h\n');

  title(
    `Killed process ${solving.child.pid} (SIGKILL) while ${DOOMED} was writing.`,
    'Another takes over as soon as Temporal notices.',
  );
  const run = (await costs('workflow')).lines[0].name;
  const code = await start(['watch', run]).ended;
  if (code !== 0) return code;

  title('Cost according to the ledger:');
  await start(['cost', '--by', 'worker']).ended;
  return compareBills(await costs('worker'));
}

/** Compares the ledger with what the simulated providers billed. */
function compareBills({ total }) {
  const count = (outcome) => providers.log.filter((record) => record.outcome === outcome).length;
  const answered = providers.log.filter(({ outcome }) => outcome === 'answered');
  const calls = new Set(answered.map(({ headers }) => headers['x-client-request-id']));
  const billed = answered.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0);
  title('According to the providers’ own log:');
  say(
    `${providers.log.length} requests: ${answered.length} answered, ${count('fault:rate-limited')} refused with 429,`,
    `${count('closed-by-client')} interrupted by the kill and retried.`,
    `${usd(billed)} billed, ${usd(total.nanoUsd)} in the ledger.`,
  );
  const isRight = calls.size === answered.length && billed === total.nanoUsd;
  say(isRight ? 'No answered call was paid for twice.' : 'This is a bug: please report it.');
  return isRight ? 0 : 1;
}

function usd(nanoUsd) {
  return `$${(nanoUsd / 1e9).toFixed(6)}`;
}

/** Starts `temporal-conductor` in the demo's folder, on this terminal. */
function start(args, stdio = ['ignore', 'inherit', 'inherit']) {
  interrupted.throwIfAborted();
  const child = spawnCommand(args, stdio);
  running = child;
  const ended = once(child, 'close').then(([code]) => {
    running = null;
    interrupted.throwIfAborted();
    return code;
  });
  return { child, ended };
}

/** Spawns in a separate process group: Ctrl-C reaches only the demo, which forwards it once. */
function spawnCommand(args, stdio) {
  // Drops the user's own settings and keys.
  const isTheirs = (name) => /^TEMPORAL_(?!CLI_PATH$)|^CONDUCTOR_(?!CACHE$)|_API_KEY$/.test(name);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isTheirs(name)));
  return spawn(process.execPath, [COMMAND, ...args], { cwd: folder, env, stdio, detached: true });
}

async function costs(by) {
  const { child, ended } = start(['cost', '--by', by, '--json'], ['ignore', 'pipe', 'inherit']);
  const [report] = await Promise.all([text(child.stdout), ended]);
  return JSON.parse(report);
}

/** Stops Temporal, which outlives a killed command, by running another command that uses it. */
async function stopServer() {
  if (!existsSync(join(folder, '.conductor', 'server.json'))) return;
  await once(spawnCommand(['trace', 'none'], 'ignore'), 'close');
}

function title(...lines) {
  say('', ...lines.map((line) => (process.stdout.isTTY ? `\u001B[1m${line}\u001B[22m` : line)));
}

function say(...lines) {
  process.stdout.write(`${lines.join('\n')}\n`);
}
