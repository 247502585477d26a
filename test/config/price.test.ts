import { parseConfig } from '../../src/config/load';
import prices from '../../src/config/prices.json';
import { resolveRun } from '../../src/config/resolve-run';

describe('the price of a card', () => {
  const NOVEMBER = new Date('2026-11-21');
  const priced = (worker: object, day = NOVEMBER): unknown => {
    const config = parseConfig({
      conductor: { provider: 'local', model: 'm' },
      workers: [{ id: 'w', provider: 'openai', model: 'gpt-6-sol', ...worker }],
    });
    const [card] = resolveRun(config, {}, day).workers;
    return card?.kind === 'model' ? [card.price, card.priceVersion] : null;
  };
  const unknown = [null, null];
  const sol = [prices.endpoints['https://api.openai.com']['gpt-6-sol'][0]?.price, prices.version];

  it('is its own, wherever it is served', () => {
    const price = { input: 1, output: 2 };
    expect(priced({ price })).toEqual([price, 'card']);
    expect(priced({ price, baseUrl: 'http://127.0.0.1:1/v1' })).toEqual([price, 'card']);
  });

  it('is the bundled one at the endpoint that charges it, by default or by name', () => {
    expect(priced({})).toEqual(sol);
    expect(priced({ baseUrl: 'https://api.openai.com/v1' })).toEqual(sol);
  });

  it('is unknown at any other address, and for any other model', () => {
    expect(priced({ baseUrl: 'https://api.example.com/v1' })).toEqual(unknown);
    expect(priced({ baseUrl: 'https://api.openai.com.example.com/v1' })).toEqual(unknown);
    expect(priced({ model: 'gpt-6-sol-2' })).toEqual(unknown);
    expect(priced({ provider: 'anthropic' })).toEqual(unknown);
  });

  it('follows an announced change on its day', () => {
    const argon = { provider: 'google', model: 'gemini-4-argon' };
    expect(priced(argon, new Date('2026-11-30'))).toMatchObject([{ input: 2 }, prices.version]);
    expect(priced(argon, new Date('2026-12-01'))).toMatchObject([{ input: 4 }, prices.version]);
  });
});
