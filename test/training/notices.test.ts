import { budgetNoticesOf, parseTrainable } from '../../src/training/config/load';
import type { TrainableInput } from '../../src/training';

const PRICE = { input: 1, output: 2 };
const MODEL = { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1' } as const;

function noticesFor(changes: Partial<TrainableInput>): string[] {
  const conductor = { ...MODEL, model: 'boss', price: PRICE };
  return budgetNoticesOf(
    parseTrainable({ conductor, workers: [{ ...MODEL, id: 'a', model: 'm' }], ...changes }),
  );
}

describe("a night's budget", () => {
  const training = {
    data: { train: 'a.jsonl', heldOut: 'b.jsonl' },
    base: { kind: 'tiny' },
    policy: { baseUrl: 'http://127.0.0.1:8001/v1' },
  } as const;
  const limits = { costUsd: null };

  test('is said not to be enforceable where the price of a worker is unknown', () => {
    expect(noticesFor({ limits, training })).toEqual([
      'training.budget.costUsd ($50) cannot be enforced: worker a (openai m) has no known price. ' +
        'Give each worker a "price:"; training.budget.hours still binds.',
    ]);
  });

  test('is nothing to speak of where there is none, or each worker has a price', () => {
    expect(noticesFor({ limits, training: { ...training, budget: { costUsd: null } } })).toEqual([]);
    const conductor = { ...MODEL, model: 'boss' };
    const workers = [{ ...MODEL, id: 'a', model: 'm', price: PRICE }];
    expect(noticesFor({ conductor, workers, limits, training })).toEqual([]);
  });
});
