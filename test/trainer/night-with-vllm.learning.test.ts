import { useNights } from './support/nights';

// Needs vLLM, and takes many minutes on a CPU: CONDUCTOR_VLLM=… npm run test:learning -- night-with-vllm

const MINUTES = 30;
const nights = useNights(MINUTES);

const hasVllm = (process.env.CONDUCTOR_VLLM ?? '') !== '';
const withVllm = hasVllm ? test : test.skip;
const otherwise = hasVllm ? '' : ': skipped, since CONDUCTOR_VLLM names no Python with it';

/** Largest gap between vLLM's log-probabilities and the trainer's in 32-bit floats; other weights are off by more. */
const MOST_APART = 1e-3;

withVllm.each([
  ['adapters of SmolLM2', ['--model', 'smollm2']],
  ['adapters of a tiny model', []],
  ['whole weights of a tiny model', ['--tuning', 'full']],
] as const)(
  `vLLM samples two cycles from %s${otherwise}`,
  async (_, options) => {
    const told = await nights.have('--serve', 'vllm', '--cycles', '2', ...options);
    const gaps = [...told.matchAll(/^.*cycle (\d): reward .*off by (\S+) at most/gm)];
    expect(gaps.map(([, cycle]) => cycle)).toEqual(['1', '2']);
    for (const [, , gap] of gaps) expect(Number(gap)).toBeLessThan(MOST_APART);
    expect(told).toMatch(/gate: night\/000002 .*decision 1 on this set/);
  },
  2 * MINUTES * 60_000,
);
