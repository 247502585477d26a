import { parseDocument, isMap, isSeq } from 'yaml';
import { renderPlan } from '../../src';
import type { SimulatedRequest } from '../../src/testing';

const PLAN = renderPlan({ steps: [{ worker: 'any', subtask: 'Answer the question.', sees: [] }] }, ['any']);

/** What documents show of answers, by a word of the question. */
const ANSWERS = [['capital of France', 'The capital of France is Paris.']] as const;

/** Plays every model: only a Conductor is told to write lists. */
export function answerOf({ text }: SimulatedRequest): string {
  if (text.includes('access_list')) return PLAN;
  return ANSWERS.find(([word]) => text.includes(word))?.[1] ?? 'A simulated answer.';
}

/** The same configuration, with every model of a vendor's or a server's at the simulated one. */
export function redirectModels(yaml: string, url: string): string {
  const document = parseDocument(yaml);
  const workers = document.get('workers');
  for (const card of [document.get('conductor'), ...(isSeq(workers) ? workers.items : [])]) {
    if (!isMap(card)) continue;
    if (card.get('provider') === 'openai') card.set('baseUrl', `${url}/v1`);
    if (card.get('provider') === 'anthropic' || card.get('provider') === 'google') card.set('baseUrl', url);
  }
  return document.toString();
}
