import { ConfigError, MissingKeyError } from '../../src/config/errors';
import { keyFor } from '../../src/config/api-keys';
import { resolveBaselines } from '../../src/config/cards';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import type { ModelCard } from '../../src/protocol/cards';

const CONFIG = parseConfig({
  conductor: { provider: 'anthropic', model: 'claude-opus-5-5' },
  conductors: {
    small: { provider: 'openai', model: 'm', baseUrl: 'https://b.example.com/v1', apiKeyEnv: 'SMALL_KEY' },
  },
  baselines: [
    {
      id: 'giant',
      provider: 'openai',
      model: 'm',
      baseUrl: 'https://c.example.com/v1',
      apiKeyEnv: 'GIANT_KEY',
    },
  ],
  workers: [
    { id: 'gpt', provider: 'openai', model: 'gpt-6-sol' },
    {
      id: 'other',
      provider: 'openai',
      model: 'm',
      baseUrl: 'https://a.example.com/v1',
      apiKeyEnv: 'OTHER_KEY',
    },
    { id: 'open', provider: 'openai', model: 'm', baseUrl: 'http://127.0.0.1:8000/v1' },
  ],
});
const ENV = {
  OPENAI_API_KEY: 'openai-secret',
  OTHER_KEY: 'other-secret',
  ANTHROPIC_API_KEY: 'claude-secret',
  SMALL_KEY: 'small-secret',
  GIANT_KEY: 'giant-secret',
};
const RUN = resolveRun(CONFIG);

function cardOf(id: string): ModelCard {
  const card = RUN.workers.find((worker) => worker.id === id);
  if (card?.kind !== 'model') throw new Error(`no model ${id}`);
  return card;
}

describe('keyFor', () => {
  it('reads the variable that the card names', () => {
    expect(keyFor(cardOf('gpt'), CONFIG, ENV)).toBe('openai-secret');
    expect(keyFor(cardOf('other'), CONFIG, ENV)).toBe('other-secret');
    expect(keyFor(RUN.conductor, CONFIG, ENV)).toBe('claude-secret');
    const { conductor: small } = resolveRun(CONFIG, { conductor: { name: 'small' } });
    expect(keyFor(small, CONFIG, ENV)).toBe('small-secret');
    const [giant] = resolveBaselines(CONFIG);
    expect(giant && 'provider' in giant && keyFor(giant, CONFIG, ENV)).toBe('giant-secret');
  });

  it('sends no key if the server needs none', () => {
    expect(keyFor(cardOf('open'), CONFIG, ENV)).toBeNull();
  });

  it.each([{}, { OPENAI_API_KEY: '' }])('names the variable that is not set: %j', (env) => {
    const read = (): unknown => keyFor(cardOf('gpt'), CONFIG, env);
    expect(read).toThrow(MissingKeyError);
    expect(read).toThrow(
      /^OPENAI_API_KEY is not set, and worker gpt \(openai gpt-6-sol\) needs it: .*doctor/,
    );
  });

  it.each<[string, Partial<ModelCard>]>([
    ['to another host', { baseUrl: 'https://evil.example.com/v1' }],
    ['under another vendor', { provider: 'google' }],
    ['through a proxy that nobody configured', { proxy: 'http://evil.example.com:3128' }],
    ["of another card's server", { apiKeyEnv: 'OTHER_KEY' }],
    ['of anything in the environment', { apiKeyEnv: 'HOME' }],
    ['of none, at an address nobody configured', { apiKeyEnv: null, baseUrl: 'http://10.0.0.1/v1' }],
    ['of none, from a file of this machine', { apiKeyEnv: null, provider: 'local', model: '/etc/passwd' }],
  ])('refuses a forged card that wants a key %s', (_, forged) => {
    const read = (): unknown => keyFor({ ...cardOf('gpt'), ...forged }, CONFIG, { ...ENV, HOME: '/' });
    expect(read).toThrow(ConfigError);
    expect(read).not.toThrow(/secret/);
  });
});
