import type { ConfigInput } from '../../src';
import { worstCaseOf } from '../../src/budget/worst-case';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import type { ModelCard } from '../../src/protocol/cards';

const CONDUCTOR = { provider: 'local', model: 'm' };

function cardOf(worker: object): ModelCard {
  const content: unknown = { conductor: CONDUCTOR, workers: [{ id: 'w', ...worker }] };
  const [card] = resolveRun(parseConfig(content as ConfigInput)).workers;
  if (card?.kind !== 'model') throw new Error('no model');
  return card;
}

const GPT = { provider: 'openai', model: 'gpt-4.1' } as const;
const CLAUDE = { provider: 'anthropic', model: 'claude-sonnet-4-5' } as const;
const GEMINI = { provider: 'google', model: 'gemini-2.5-pro' } as const;

test('the sampling and thinking settings of a card are passed on, and absent ones are not added', () => {
  const said = { topP: 0.8, topK: 20, presencePenalty: 1, extraBody: { min_p: 0.1 } };
  expect(cardOf({ ...GPT, ...said })).toMatchObject(said);
  expect(cardOf({ ...CLAUDE, thinking: 2048 })).toMatchObject({ thinking: 2048 });
  expect(cardOf({ ...CLAUDE, thinking: 'off' })).toMatchObject({ thinking: 0 });
  const names = Object.keys(JSON.parse(JSON.stringify(cardOf(CLAUDE))) as object);
  expect(names.filter((name) => [...Object.keys(said), 'thinking'].includes(name))).toEqual([]);
});

test.each([
  [
    'fewer thoughts than Anthropic accepts',
    { ...CLAUDE, thinking: 1000 },
    'thinking is 1000: Anthropic accepts 1024',
  ],
  [
    'no room for an answer',
    { ...CLAUDE, thinking: 4096 },
    'thinking is 4096: thinking counts towards maxOutputTokens, which is 4096',
  ],
  ['no room at Google', { ...GEMINI, thinking: 500, maxOutputTokens: 400 }, 'which is 400: raise that'],
  [
    'a temperature beside thoughts',
    { ...CLAUDE, thinking: 2048, temperature: 0.2 },
    'temperature is 0.2: Anthropic accepts only 1 together with thinking',
  ],
  [
    'a narrow top-p beside thoughts',
    { ...CLAUDE, thinking: 2048, topP: 0.8 },
    'topP is 0.8: Anthropic accepts only 0.95 to 1',
  ],
  [
    'a top-k beside thoughts',
    { ...CLAUDE, thinking: 2048, topK: 20 },
    'topK is 20: Anthropic does not accept',
  ],
  [
    'a level and a number of thoughts',
    { ...GEMINI, thinking: 'off', effort: 'low' },
    'effort is "low": Google accepts either effort or a thinking budget',
  ],
  ['thoughts of OpenAI by number', { ...GPT, thinking: 2048 }, 'remove it and set effort'],
  [
    'thoughts in the process',
    { ...CONDUCTOR, thinking: 'off' },
    "only Anthropic's and Google's APIs have a thinking budget",
  ],
  [
    'thoughts by a word',
    { ...CLAUDE, thinking: 'much' },
    'thinking is "much": expected off, or a number of tokens',
  ],
  [
    'another model by extraBody',
    { ...GPT, extraBody: { model: 'x' } },
    'workers[0].extraBody.model is "x": this field is set by temporal-conductor',
  ],
  [
    'other messages',
    { ...GPT, extraBody: { messages: [] } },
    'extraBody.messages is []: this field is set by temporal-conductor',
  ],
  ['a longer answer', { ...GPT, extraBody: { max_tokens: 9 } }, 'extraBody.max_tokens is 9'],
  [
    'a longer answer of Google',
    { ...GEMINI, extraBody: { generationConfig: { maxOutputTokens: 9 } } },
    'extraBody.generationConfig.maxOutputTokens is 9',
  ],
  ['a book', { ...GPT, extraBody: { note: 'x'.repeat(4000) } }, 'expected at most 4000 characters of JSON'],
  ['a body in the process', { ...CONDUCTOR, extraBody: {} }, 'extraBody is not a setting'],
])('%s is refused', (_, worker, words) => {
  expect(() => cardOf(worker)).toThrow(words);
});

test.each([
  { ...CLAUDE, thinking: 2048, temperature: 1, topP: 0.95 },
  { ...CLAUDE, thinking: 'off', temperature: 0.2, topP: 0.8, topK: 20 },
  { ...GEMINI, thinking: 128, temperature: 0.2, topK: 20 },
  { ...GPT, extraBody: { chat_template_kwargs: { model: 'thinker' } } },
])('%j is accepted', (worker) => {
  expect(() => cardOf(worker)).not.toThrow();
});

test('a Conductor that thinks at Anthropic has no default temperature', () => {
  const temperatureOf = (thinking: object): number | null => {
    const content: unknown = {
      conductor: { ...CLAUDE, maxOutputTokens: 4096, ...thinking },
      workers: [{ id: 'w', ...GPT }],
    };
    return resolveRun(parseConfig(content as ConfigInput)).conductor.temperature;
  };
  expect(temperatureOf({ thinking: 2048 })).toBeNull();
  expect(temperatureOf({ thinking: 'off' })).toBe(0.2);
});

test('the worst case of a call already includes its thoughts, which are part of the longest answer', () => {
  const worst = (settings: object) =>
    worstCaseOf(cardOf({ ...CLAUDE, maxOutputTokens: 8000, ...settings }), 0);
  expect(worst({ thinking: 7999 })).toEqual(worst({}));
  expect(worst({}).tokens).toBeGreaterThan(8000);
});
