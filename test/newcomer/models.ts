import { isMap, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { renderPlan } from '../../src';
import { resolveConductor } from '../../src/config/cards';
import { configSchema } from '../../src/config/schema';
import type { Answer, SimulatedRequest } from '../../src/testing';
import { aboutTheDanube } from './danube';

const PLAN = renderPlan({ steps: [{ worker: 'any', subtask: 'Answer the question.', sees: [] }] }, ['any']);

/** What documents show of answers, by a word of the question. */
const ANSWERS = [['capital of France', 'The capital of France is Paris.']] as const;

/** Plays every model: only a Conductor is told to write lists. */
export function answerOf(request: SimulatedRequest): Answer {
  const { text } = request;
  const told = aboutTheDanube(request);
  if (told !== undefined) return told;
  if (text.includes('access_list')) return PLAN;
  return ANSWERS.find(([word]) => text.includes(word))?.[1] ?? 'A simulated answer.';
}

/** The same configuration, with every model of a vendor's or a server's at the simulated one, for the vendor's price. */
export function redirectModels(yaml: string, url: string): string {
  const document = parseDocument(yaml);
  const workers = document.get('workers');
  for (const card of [document.get('conductor'), ...(isSeq(workers) ? workers.items : [])]) {
    if (isMap(card)) redirect(card, url);
  }
  return document.toString();
}

function redirect(card: YAMLMap, url: string): void {
  const [provider, model] = [card.get('provider'), card.get('model')];
  if (provider !== 'openai' && provider !== 'anthropic' && provider !== 'google') return;
  const { price } = resolveConductor(configSchema.shape.conductor.parse({ provider, model }), new Date());
  const isTheVendors = !card.has('baseUrl') && !card.has('price');
  if (isTheVendors && price !== null) card.set('price', { input: price.input, output: price.output });
  card.set('baseUrl', provider === 'openai' ? `${url}/v1` : url);
}
