import { PRICES } from '../../../examples/evaluate/world';
import { resolveBaselines } from '../../../src/config/cards';
import { parseConfig } from '../../../src/config/load';
import { resolveRun } from '../../../src/config/resolve-run';
import { estimateEvaluation } from '../../../src/cli/evaluate/estimate';

const model = (name: string, price: { input: number; output: number } | undefined) => ({
  provider: 'openai' as const,
  model: name,
  baseUrl: 'http://127.0.0.1:9/v1',
  ...(price && { price }),
});

function callsOf(methods: readonly string[], prices: typeof PRICES): number {
  const workers = ['scholar', 'coder', 'clerk'].map((id) => ({ id, ...model(id, prices[id]) }));
  const run = resolveRun(parseConfig({ conductor: model('conductor', prices.conductor), workers }));
  const question = { question: 'What is 17 + 25?', grader: 'number', answer: '42', id: 'q' } as never;
  return estimateEvaluation(methods, [question], { run, verifier: undefined, compares: false }).calls;
}

test('the number of samples is estimated from the cost of the Conductor', () => {
  // `npm run eval:demo -- --questions 10` makes 3.7 calls per question with each of the two methods.
  for (const method of ['best-of:scholar', 'vote:scholar']) {
    expect(Math.abs(callsOf([method], PRICES) - 4)).toBeLessThanOrEqual(1);
  }
  const cheap = { ...PRICES, scholar: { input: 0.001, output: 0.001 } };
  expect(callsOf(['vote:scholar'], cheap)).toBe(200);
  expect(callsOf(['vote:scholar'], {})).toBeGreaterThan(1);
});

test('a further Conductor and a baseline are estimated at their own prices', () => {
  const price = { input: 0, output: 1000 };
  const config = parseConfig({
    conductor: model('conductor', { input: 0, output: 1 }),
    conductors: { frontier: model('frontier', price) },
    workers: [{ id: 'clerk', ...model('clerk', { input: 0, output: 1 }) }],
    baselines: [{ id: 'giant', ...model('giant', price) }],
  });
  const run = resolveRun(config);
  const conductors = { frontier: resolveRun(config, { conductor: { name: 'frontier' } }).conductor };
  const beside = { run, conductors, baselines: resolveBaselines(config) };
  const question = { question: 'What is 17 + 25?', grader: 'number', answer: '42', id: 'q' } as never;
  const usdOf = (...methods: string[]): number | null => estimateEvaluation(methods, [question], beside).usd;
  expect(usdOf('worker:giant')).toBeCloseTo(1000 * (usdOf('worker:clerk') ?? NaN), 9);
  const [plain, named] = [usdOf('conductor') ?? NaN, usdOf('conductor:frontier') ?? NaN];
  const steps = 3 * (usdOf('worker:clerk') ?? NaN);
  expect(named - steps).toBeCloseTo(1000 * (plain - steps), 9);
});
