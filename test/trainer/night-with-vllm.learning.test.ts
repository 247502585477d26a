import { useNights } from './support/nights';

// Needs vLLM, whose start takes minutes on busy cores: CONDUCTOR_VLLM=… npm run test:learning -- night-with-vllm

const MINUTES = 30;
const nights = useNights(MINUTES);

const hasVllm = (process.env.CONDUCTOR_VLLM ?? '') !== '';
const withVllm = hasVllm ? test : test.skip;

/** Largest gap between vLLM's log-probabilities and the trainer's in 32-bit floats; other weights are off by more. */
const MOST_APART = 1e-4;

withVllm.each([
  ['an adapter of a tiny model', '--model', 'tiny'],
  ['all weights of a tiny model', '--tuning', 'full'],
  ['an adapter of SmolLM2', '--model', 'smollm2'],
])(
  `vLLM samples two cycles of %s${hasVllm ? '' : ': skipped, since CONDUCTOR_VLLM names no Python with it'}`,
  async (_, option, value) => {
    const told = await nights.have('--serve', 'vllm', '--cycles', '2', option, value);
    const gaps = [...told.matchAll(/cycle (\d): reward .*off by (\S+) at most/g)];
    expect(gaps.map(([, cycle]) => cycle)).toEqual(['1', '2']);
    for (const [, , gap] of gaps) expect(Number(gap)).toBeLessThan(MOST_APART);
    expect(told).toMatch(/gate: night\/000002 .*decision 1 on this set/);
  },
  2 * MINUTES * 60_000,
);
