// `npm run pictures`: regenerates the pictures of a run in the README and docs/: docs/live-view.svg,
// docs/temporal-page.png and docs/page-*.png.
//
// Runs a real solve with the demo's simulated models. Needs Python 3, which provides a terminal, and Chromium
// (CHROMIUM, else /usr/bin/chromium). Check the pictures by eye: Temporal's page is another project's and may change.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REVIEW } from '../examples/demo/review.mjs';
import { startSimulatedProviders } from '../lib/testing/index.js';
import { withPalette } from './pictures/small-png.mjs';
import { photographPage } from './pictures/page.mjs';
import { drawScreens } from './pictures/screens.mjs';

const { configuration, doomed: DOOMED, models: MODELS, question: QUESTION } = REVIEW;
const DOCS = fileURLToPath(new URL('../docs/', import.meta.url));
const COMMAND = fileURLToPath(new URL('../lib/cli/main.js', import.meta.url));
const COLUMNS = 106;
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** Python program that runs a command in a terminal of COLUMNS columns. */
const AT_TERMINAL = `import fcntl, os, pty, struct, sys, termios
os.environ['TERM'] = 'xterm'
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 50, ${COLUMNS}, 0, 0))
try:
    while data := os.read(fd, 65536): os.write(1, data)
except OSError: pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;

const folder = mkdtempSync(join(tmpdir(), 'conductor-pictures-'));
// No process is killed here, so DOOMED's script, which waits for the kill, is empty. Delays leave room for labels.
const refusal = {
  fault: 'rate-limited',
  retryAfter: { ms: 1000, as: 'milliseconds' },
  message: 'Slow down.',
};
const models = {
  ...MODELS,
  sonnet: { ...MODELS.sonnet, delayMs: 800, script: [refusal] },
  [DOOMED]: { ...MODELS[DOOMED], delayMs: 3000, script: [] },
};
const providers = await startSimulatedProviders({ models });
writeFileSync(join(folder, 'conductor.yaml'), configuration(providers.url));
const up = start(process.execPath, [COMMAND, 'up']);
try {
  await up.hear(/^Ready\./m);
  const question = ['solve', QUESTION, '--max-depth', '1'];
  const solve = start('python3', ['-c', AT_TERMINAL, process.execPath, COMMAND, ...question]);
  await solve.ended;
  writeFileSync(
    join(DOCS, 'live-view.svg'),
    drawScreens(solve.printed(), `temporal-conductor solve "${QUESTION}" --max-depth 1`, COLUMNS),
  );
  const { id, runId } = JSON.parse(run(process.execPath, [COMMAND, 'trace', 'last', '--format', 'json']));
  const { uiAddress } = JSON.parse(readFileSync(join(folder, '.conductor', 'server.json'), 'utf8'));
  const link = up.printed().match(/^Page +(\S+)/m)[1];
  const slowly = () => {
    providers.script('sonnet', [refusal]);
    providers.script(DOOMED, [{ fault: 'drip', ms: 4000 }]);
  };
  await photographPage(link, { question: QUESTION, slowly, folder, docs: DOCS, program: CHROMIUM });
  photograph(`${uiAddress}/namespaces/default/workflows/${id}/${runId}`);
} finally {
  up.child.kill('SIGINT');
  await up.ended;
  await providers.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Photographs parts of two tabs of a run's page, cropped and stacked. */
function photograph(page) {
  const [wide, high] = [1500, 1500];
  const parts = [
    // Heading and tabs, the timeline, and the summary with the current details.
    { tab: 'timeline', top: 100, height: 215 },
    { tab: 'timeline', top: 680, height: 335 },
    { tab: 'user-metadata', top: 275, height: 1010 },
  ];
  for (const tab of new Set(parts.map((part) => part.tab))) {
    shoot(`${page}/${tab}`, `${tab}.png`, wide, high);
  }
  const left = 272;
  const images = parts.map(
    ({ tab, top, height }) =>
      `<div style="height:${height}px;background:url(${tab}.png) -${left}px -${top}px"></div>`,
  );
  writeFileSync(join(folder, 'page.html'), `<body style="margin:0">${images.join('')}</body>`);
  const height = parts.reduce((sum, part) => sum + part.height, 0);
  shoot(`file://${folder}/page.html`, 'temporal-page.png', wide - left - 16, height);
  writeFileSync(
    join(DOCS, 'temporal-page.png'),
    withPalette(readFileSync(join(folder, 'temporal-page.png'))),
  );
}

function shoot(address, name, width, height) {
  const options = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    '--virtual-time-budget=20000',
  ];
  const size = `--window-size=${width},${height}`;
  run(CHROMIUM, [...options, size, `--screenshot=${join(folder, name)}`, address]);
}

function start(program, args) {
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (printed += text));
  }
  const ended = once(child, 'close');
  const hear = async (words) => {
    while (!words.test(printed)) {
      if (child.exitCode !== null) throw new Error(`"${args.join(' ')}" ended:\n${printed}`);
      await Promise.race([once(child.stderr, 'data'), ended]);
    }
  };
  return { child, ended, hear, printed: () => printed };
}

function run(program, args) {
  const { stdout, status, error } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}.`);
  return stdout;
}
