import type { ConfigInput } from '../../src';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import type { ResolvedRun } from '../../src/protocol/cards';

const OPENAI = { provider: 'openai', model: 'gpt-6-sol' };
const ELSEWHERE = { ...OPENAI, baseUrl: 'http://127.0.0.1:8000/v1' };

function resolve(models: { conductor?: object; worker?: object }): ResolvedRun {
  const { conductor = OPENAI, worker = OPENAI } = models;
  return resolveRun(parseConfig({ conductor, workers: [{ id: 'a', ...worker }] } as ConfigInput));
}

describe('a model whose answers are written in the background', () => {
  it.each([
    ["is one on OpenAI's own endpoint", OPENAI],
    ['is one on another server that speaks the Responses API', { ...ELSEWHERE, api: 'responses' }],
  ])('%s', (_, model) => {
    const { workers } = resolve({ worker: { ...model, background: true } });
    expect(workers[0]).toMatchObject({ api: 'responses', background: true });
    expect(resolve({ worker: { ...model, background: false } }).workers[0]).not.toHaveProperty('background');
  });

  const chat = 'Chat Completions has no background mode';
  const other = "only OpenAI's Responses API has a background mode; remove it or set false";
  it.each([
    ['another server without an API named', ELSEWHERE, `${chat}; add api: responses or remove it`],
    ['Chat Completions', { ...OPENAI, api: 'chat' }, `${chat}; set api: responses or remove it`],
    ['Anthropic', { provider: 'anthropic', model: 'claude-opus-5-5' }, other],
    ['Google', { provider: 'google', model: 'gemini-4-argon' }, other],
    ['a local model', { provider: 'local', model: 'smollm2' }, other],
  ])('is refused for %s', (_, model, sentence) => {
    expect(() => resolve({ worker: { ...model, background: true } })).toThrow(
      `workers[0].background is true: ${sentence}`,
    );
  });

  it('may be the Conductor, by the same rule', () => {
    expect(resolve({ conductor: { ...OPENAI, background: true } }).conductor.background).toBe(true);
    expect(() => resolve({ conductor: { ...ELSEWHERE, background: true } })).toThrow(
      'conductor.background is true',
    );
  });
});
