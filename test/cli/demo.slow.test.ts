import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runProgram } from '../../src/runtime/start-program';
import { freshFolder } from '../local/fresh-folder';

const DEMO = join(__dirname, '../../examples/demo/main.mjs');
/** For each of three demos at once. */
const PATIENCE_MS = 240_000;

/** Plays the demo, and checks that it leaves no process and no file behind. */
async function play<Seen>(
  watch: (demo: ChildProcessWithoutNullStreams) => Promise<Seen>,
  ...names: readonly string[]
): Promise<Seen> {
  const temporary = await freshFolder();
  // The demo must not use the user's own server or key.
  const theirs = { TEMPORAL_ADDRESS: '127.0.0.1:1', OPENAI_API_KEY: 'theirs' };
  const demo = spawn(process.execPath, [DEMO, ...names], {
    env: { ...process.env, ...theirs, TMPDIR: temporary },
  });
  const seen = await watch(demo);
  expect(await readdir(temporary)).toEqual([]);
  // The server's arguments name its folder.
  expect(await runProgram('ps', ['-eo', 'args'])).not.toContain(temporary);
  return seen;
}

function exitOf(demo: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve) => demo.on('close', resolve));
}

// Concurrent, because both mostly wait.
test.concurrent(
  'the demo shows a rate limit, a kill and a correction, and pays for each answer once',
  async () => {
    const [stdout, stderr, code] = await play((demo) =>
      Promise.all([text(demo.stdout), text(demo.stderr), exitOf(demo)]),
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout.split('\n')[0]).toMatch(/^A demo\. The models are simulated/);
    expect(stderr).toContain('sonnet) answered 429');
    expect(stdout).toMatch(/\nKilled process \d+ \(SIGKILL\) while luna was writing/);
    expect(stderr).toMatch(/luna[^]*round 2 › step 1 \(sol\) done/);
    expect(stdout).toContain('\nAbout 75 piano tuners');
    expect(stdout).toMatch(/\d requests: 6 answered, 1 refused with 429, \d interrupted by the kill/);
    expect(stdout).toMatch(
      /\n(\$0\.\d+) billed, \1 in the ledger\.\nNo answered call was paid for twice\.\n$/,
    );
  },
  PATIENCE_MS,
);

test.concurrent(
  'the demo of tools asks a person, is killed while it orders, orders once, and pays for each answer once',
  async () => {
    const [stdout, stderr, code] = await play(
      (demo) => Promise.all([text(demo.stdout), text(demo.stderr), exitOf(demo)]),
      'tools',
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain('waits for approval of the call shop__order {"article":"6204-2RS","pieces":2}');
    expect(stdout).toMatch(/\nKilled process \d+ \(SIGKILL\) while the order was under way/);
    expect(stdout).toContain('\nTwo bearings 6204-2RS for pump P-7 were ordered');
    expect(stdout).toMatch(/shop__order .*unknown/);
    expect(stdout).toContain('2 × 6204-2RS\nThe order was sent once.\n');
    expect(stdout).toMatch(
      /\n(\$0\.\d+) billed, \1 in the ledger\.\nNo answered call was paid for twice\.\n$/,
    );
  },
  PATIENCE_MS,
);

test.concurrent(
  'an interrupted demo leaves nothing behind',
  async () => {
    const [stdout, code] = await play((demo) => {
      let stderr = '';
      demo.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        stderr += chunk;
        if (stderr.includes('writing a plan') && !demo.killed) demo.kill('SIGINT');
      });
      return Promise.all([text(demo.stdout), exitOf(demo)]);
    });
    expect(stdout).toMatch(/\nInterrupted\. The demo has removed its run and its folder\.\n$/);
    expect(code).toBe(130);
  },
  PATIENCE_MS,
);
