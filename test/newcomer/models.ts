import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { renderPlan } from '../../src';
import { resolveConductor } from '../../src/config/cards';
import { configSchema } from '../../src/config/schema';
import type { Question } from '../../src/grading';
import type { Answer, SimulatedRequest } from '../../src/testing';
import { draw } from '../../src/testing/simulated-model';
import { aboutTheDanube } from './danube';

/** Answers that documents show, by a part of the question. */
const ANSWERS = [['capital of France', 'The capital of France is Paris.']] as const;

/** Answers for every model; only a Conductor's prompt mentions `access_list`. */
export function answerOf(request: SimulatedRequest): Answer {
  const { text, model } = request;
  const told = aboutTheDanube(request);
  if (told !== undefined) return told;
  const example = EXAMPLES.find(({ question }) => text.includes(question));
  if (text.includes('access_list')) return planFor(example);
  if (example !== undefined) return answerExample(example, model);
  return ANSWERS.find(([word]) => text.includes(word))?.[1] ?? 'A simulated answer.';
}

/** Questions that `train init --example-questions` writes. */
const EXAMPLES = ['train', 'held-out'].flatMap((part) => {
  const file = join(__dirname, `../../src/cli/train/example-questions/${part}.jsonl`);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Question);
});

/** Team of a first night: each member answers two of the four topics only. */
const TEAM: Readonly<Record<string, readonly string[]>> = {
  'gpt-6-luna': ['sums', 'shares'],
  'gpt-6-sol': ['fractions', 'words'],
};

function answerExample(question: Question, model: string): string {
  const { topic = '' } = question;
  return 'answer' in question && TEAM[model]?.includes(topic) === true ? question.answer : 'I do not know.';
}

/** Plans like a Conductor that does not know its team: by guessing, so that a policy has something to learn. */
function planFor(example: Question | undefined): string {
  const ids = example === undefined ? ['any'] : Object.keys(TEAM);
  const worker = ids[Math.floor(draw('dice', example?.id ?? '') * ids.length)] ?? '';
  return renderPlan({ steps: [{ worker, subtask: 'Answer the question.', sees: [] }] }, ids);
}

/** Points every model of a vendor or server at the simulated one, and keeps the vendor's price. */
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
