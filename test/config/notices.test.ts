import { parseConfig } from '../../src/config/load';
import { noticesOf } from '../../src/config/resolve-run';
import type { ConfigInput } from '../../src';

const PRICE = { input: 1, output: 2 };
const MODEL = { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1' } as const;

function noticesFor(changes: Partial<ConfigInput>): string[] {
  const conductor = { ...MODEL, model: 'boss', price: PRICE };
  return noticesOf(parseConfig({ conductor, workers: [{ ...MODEL, id: 'a', model: 'm' }], ...changes }));
}

describe('a limit on cost', () => {
  test('is said not to be enforceable where a price is unknown', () => {
    expect(noticesFor({})).toEqual([
      'limits.costUsd ($1) cannot be enforced: worker a (openai m) has no known price. ' +
        'Give each a "price:"; calls and tokens still bind.',
    ]);
  });

  test('is nothing to speak of where each price is known, or there is no such limit', () => {
    expect(noticesFor({ workers: [{ ...MODEL, id: 'a', model: 'm', price: PRICE }] })).toEqual([]);
    expect(noticesFor({ limits: { costUsd: null } })).toEqual([]);
  });

  test('holds for an activity or workflow of the user that says what a call costs', () => {
    const agent = { id: 'agent', provider: 'activity', type: 'research', taskQueue: 'agents' } as const;
    expect(noticesFor({ workers: [agent] })[0]).toContain('worker agent (activity research)');
    expect(noticesFor({ workers: [{ ...agent, price: { perCall: 0.01 } }] })).toEqual([]);
  });
});
