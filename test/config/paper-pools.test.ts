import { join } from 'node:path';
import { completeAnthropic } from '../../src/activities/models/anthropic';
import { completeGoogle } from '../../src/activities/models/google';
import { completeOpenAI } from '../../src/activities/models/openai';
import { readGivenConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import type { ModelCard } from '../../src/protocol/cards';
import { startSimulatedProviders } from '../../src/testing';
import { aRequest } from '../activities/models/ask';
import { useOnce } from '../support/use';

const fileOf = (name: string): string => join(__dirname, `../../profiles/pools/paper-${name}.yaml`);

const providers = useOnce(() => startSimulatedProviders());

/** Returns the id and request body of each worker, in the order of the pool. */
async function requestsOf(name: string): Promise<(readonly [id: string, body: Record<string, unknown>])[]> {
  const { workers } = resolveRun(readGivenConfig(fileOf(name)));
  const asked: (readonly [string, Record<string, unknown>])[] = [];
  for (const worker of workers) {
    if (worker.kind !== 'model') throw new Error(`${worker.id} is no model`);
    await ask({ ...worker, baseUrl: worker.provider === 'openai' ? `${providers.url}/v1` : providers.url });
    asked.push([worker.id, JSON.parse(providers.log.at(-1)?.body ?? '') as Record<string, unknown>]);
  }
  return asked;
}

async function ask(card: ModelCard): Promise<void> {
  providers.answer(card.model, 'Eight.');
  const complete = { anthropic: completeAnthropic, google: completeGoogle, openai: completeOpenAI }[
    card.provider as 'anthropic' | 'google' | 'openai'
  ];
  expect((await complete(aRequest(card))).dropped).toEqual([]);
}

const qwen = (tokens: number, enable_thinking: boolean): object => ({
  model: 'Qwen/Qwen3-32B',
  ...{ temperature: 0.2, top_p: 0.8, top_k: 20, presence_penalty: 1, max_tokens: tokens },
  chat_template_kwargs: { enable_thinking },
});
const open = (model: string, tokens: number): object => ({ model, temperature: 0.2, max_tokens: tokens });

test('the small budget is requested from every vendor as in appendix A.1', async () => {
  const generationConfig = {
    temperature: 0.2,
    maxOutputTokens: 4096,
    thinkingConfig: { thinkingBudget: 128 },
  };
  expect(await requestsOf('constrained')).toMatchObject([
    ['gemini', { generationConfig }],
    ['sonnet', { temperature: 0.2, max_tokens: 4096, thinking: { type: 'disabled' } }],
    ['gpt-5', { max_output_tokens: 4096, reasoning: { effort: 'minimal' } }],
    ['qwen', qwen(4096, false)],
    ['gemma', open('google/gemma-3-27b-it', 4096)],
    ['qwen-thinking', qwen(4096, true)],
    ['r1', open('deepseek-ai/DeepSeek-R1-Distill-Qwen-32B', 4096)],
  ]);
});

test('the large budget is requested from every vendor as in table 3', async () => {
  const generationConfig = { maxOutputTokens: 65_535, thinkingConfig: { thinkingBudget: 32_768 } };
  expect(await requestsOf('unconstrained')).toMatchObject([
    ['gemini', { generationConfig }],
    ['sonnet', { temperature: 1, max_tokens: 64_000, thinking: { type: 'enabled', budget_tokens: 32_768 } }],
    ['gpt-5', { max_output_tokens: 128_000, reasoning: { effort: 'high' } }],
    ['qwen', qwen(20_480, false)],
    ['gemma', open('google/gemma-3-27b-it', 20_480)],
    ['qwen-thinking', qwen(20_480, true)],
    ['r1', open('deepseek-ai/DeepSeek-R1-Distill-Qwen-32B', 20_480)],
  ]);
});

test.each(['constrained', 'unconstrained'])('the %s pool has a price for every worker', (name) => {
  const { workers } = resolveRun(readGivenConfig(fileOf(name)));
  expect(workers.map((card) => [card.id, 'price' in card && card.price !== null])).toEqual(
    workers.map(({ id }) => [id, true]),
  );
});
