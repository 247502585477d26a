import { type Complete, createComplete } from '../../src/activities/models';
import { resolveWorker } from '../../src/config/cards';
import { configSchema, type ConfigInput } from '../../src/config/schema';
import type { Message, Plan } from '../../src/plan/plan';
import { workerMessages } from '../../src/plan/prompt/worker';
import type { ModelCard } from '../../src/protocol/cards';
import { Turns } from '../../src/runtime/turns';
import type { Schooling, WorkerTask } from './workers';

// The workers, asked through the product's own adapter, as a solve asks them.

/** Returns the workers' part of `conductor.yaml`. */
export function crewConfig(
  baseUrl: string,
  workers: readonly Pick<Schooling, 'id'>[],
): Pick<ConfigInput, 'workers' | 'limits'> {
  return {
    workers: workers.map(({ id }) => ({
      id,
      provider: 'openai',
      api: 'chat',
      model: id,
      baseUrl,
      temperature: 0,
      maxOutputTokens: LONGEST_ANSWER,
      stream: false,
      layout: 'plain',
      price: { input: 0, output: 0 },
    })),
    limits: { steps: 3, costUsd: null },
  };
}

/** In tokens; six letters with spaces between them take six. */
const LONGEST_ANSWER = 16;
/** On a CPU, SmolLM2 takes minutes for the requests of one pass. */
const TIMEOUT_MS = 10 * 60_000;

/** Maximum concurrent requests: as many as fit into two passes of the server. */
const AT_ONCE = 256;

export interface Crew {
  /** Base URL of their server, ending in `/v1`. */
  readonly url: string;
  readonly ids: readonly string[];
  ask(worker: string, task: WorkerTask): Promise<string>;
  /** Asks for the whole question, without a plan. */
  askWhole(worker: string, question: string): Promise<string>;
  /** Has the workers carry out a plan; returns the last step's answer. */
  carryOut(plan: Plan, question: string): Promise<string>;
  /** Number of requests sent; equal ones are sent once. */
  readonly sent: () => number;
}

/** @param baseUrl of the workers' server, ending in `/v1` */
export function openCrew(baseUrl: string, workers: readonly Pick<Schooling, 'id'>[]): Crew {
  const config = configSchema.parse({ conductor: { provider: 'policy' }, ...crewConfig(baseUrl, workers) });
  const cards = config.workers.map((worker) => resolveWorker(worker, new Date()) as ModelCard);
  const complete: Complete = createComplete(() =>
    Promise.reject(new Error('No worker here is a local one.')),
  );
  const known = new Map<string, Promise<string>>();
  const turns = new Turns(AT_ONCE);
  const send = (worker: string, messages: readonly Message[]): Promise<string> => {
    const card = cards.find(({ id }) => id === worker);
    if (card === undefined) throw new RangeError(`There is no worker ${worker} here.`);
    const key = JSON.stringify([worker, messages]);
    const earlier = known.get(key);
    if (earlier !== undefined) return earlier;
    const request = {
      card,
      messages,
      maxOutputTokens: card.maxOutputTokens,
      apiKey: null,
      timeoutMs: TIMEOUT_MS,
    };
    const answer = turns.take(async () => {
      const { text } = await complete({ ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
      return text;
    });
    known.set(key, answer);
    return answer;
  };
  const ask: Crew['ask'] = (worker, task) => send(worker, workerMessages({ ...task, layout: 'plain' }));
  return {
    url: baseUrl,
    ids: cards.map(({ id }) => id),
    ask,
    askWhole: (worker, question) => send(worker, [{ role: 'user', text: question }]),
    carryOut: (plan, question) => carryOut(ask, plan, question),
    sent: () => known.size,
  };
}

/** Runs the steps one after the other; returns the last answer. */
export async function carryOut(ask: Crew['ask'], { steps }: Plan, question: string): Promise<string> {
  const outputs: string[] = [];
  for (const { worker, subtask, sees } of steps) {
    const seen = sees.map((step) => ({
      step,
      subtask: steps[step]?.subtask ?? '',
      output: outputs[step] ?? '',
    }));
    outputs.push(await ask(worker, { question, subtask, sees: seen }));
  }
  return outputs.at(-1) ?? '';
}
