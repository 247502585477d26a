import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runChild } from '../../research/support/programs';

const MAIN = resolve(__dirname, '../../research/night/main.ts');
const MINUTES = 10;

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'night-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs the program of `npm run learn -- night`, and returns what it says. */
async function night(...options: string[]): Promise<string> {
  const args = ['--folder', folder, '--cycles', '1', '--minutes', `${MINUTES}`, ...options];
  const child = runChild(MAIN, args, process.env);
  const lines: string[] = [];
  for (;;) {
    const line = await child.nextLine().catch(() => null);
    if (line === null) break;
    lines.push(line);
  }
  expect(await child.ended()).toBe(0);
  return lines.join('\n');
}

test(
  'the same command has the next night, from what the last one learned',
  async () => {
    const first = await night('--serve', 'cpu');
    expect(first).toMatch(/the night of 2026-01-10 begins[^]*cycle 1: reward [^]*gate: /);
    expect(await night('--serve', 'cpu')).toMatch(
      /the night of 2026-01-11 begins[^]*cycle 2: reward [^]*gate: /,
    );
  },
  3 * MINUTES * 60_000,
);

const hasVllm = (process.env.CONDUCTOR_VLLM ?? '') !== '';
const withVllm = hasVllm ? test : test.skip;

withVllm(
  `vLLM samples a night${hasVllm ? '' : ': skipped, since CONDUCTOR_VLLM names no Python with it'}`,
  async () => {
    const told = await night('--serve', 'vllm');
    const [, gap] = /cycle 1: reward .*off by (\S+) at most/.exec(told) ?? [];
    expect(Number(gap)).toBeLessThan(1e-4);
  },
  2 * MINUTES * 60_000,
);
