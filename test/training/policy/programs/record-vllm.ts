/**
 * Records a vLLM server's responses to our requests in `vllm-exchanges.json`, next to the tests:
 *
 *     node --require ./scripts/run-typescript.cjs test/training/policy/programs/record-vllm.ts BASE_URL ADAPTER
 *
 * BASE_URL ends in `/v1`; ADAPTER is a folder with a LoRA checkpoint of the server's model, at the same path for both.
 * The server must run with the flags of docker/training.yaml. The policy client sends its own requests; the trainer's
 * requests are repeated here, and the trainer's tests compare them.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { PolicyClient, type Sample } from '../../../../src/training/policy/client';
import { parseJson } from '../../../../src/activities/models';
import { serve } from '../../../support/serve';

const OUTPUT = join(__dirname, '../vllm-exchanges.json');
const MODEL = 'nightly-000012';
const never = new AbortController().signal;
const SAMPLING = { temperature: 1, top_p: 1, top_k: -1, repetition_penalty: 1 };
const PROBE = { max_tokens: 1, prompt_logprobs: 0, ...SAMPLING };

/** A request and its response; the answer is a JSON value, or the text if it is not JSON. */
interface Exchange {
  readonly path: string;
  readonly request?: unknown;
  readonly status: number;
  readonly answer: unknown;
}

async function record(server: string, adapter: string): Promise<void> {
  const seen: Exchange[] = [];
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = request.method === 'POST' ? await json(request) : undefined;
    const exchange = await ask(server, request.url ?? '', body);
    seen.push(exchange);
    const { answer, status } = exchange;
    response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  };
  const proxy = await serve((request, response) => void pass(request, response));
  const client = new PolicyClient(`${proxy.url}/v1`);
  /** Returns the last exchange of some work, which may fail. */
  const during = async (work: Promise<unknown>): Promise<Exchange> => {
    await work.catch(() => null);
    const last = seen.at(-1);
    if (last === undefined) throw new Error(`${server} was not asked.`);
    return last;
  };

  const turns = [{ role: 'user', content: 'Hi' }] as const;
  await ask(server, '/v1/unload_lora_adapter', { lora_name: MODEL });
  const modelsBefore = await ask(server, '/v1/models');
  const unknownModel = await during(client.tokenize(MODEL, turns, never));
  const loaded = await during(client.load(MODEL, adapter, never));
  const prompt = await client.tokenize(MODEL, turns, never);
  const tokenized = await during(Promise.resolve());
  const sampling = { model: MODEL, vocabulary: Infinity, prompt, n: 2, temperature: 1, maxTokens: 12 };
  const exchanges = {
    version: await ask(server, '/version'),
    modelsBefore,
    unknownModel,
    loaded,
    loadedAlready: await during(client.load(MODEL, adapter, never)),
    noAdapter: await during(client.load('nightly-000013', dirname(adapter), never)),
    notLoadable: await during(withBroad(adapter, (folder) => client.load('nightly-000013', folder, never))),
    noRoute: await during(new PolicyClient(`${proxy.url}/v2`).load(MODEL, adapter, never)),
    tokenized,
    completed: await during(untilBothEnds((seed) => client.sample({ ...sampling, seed }, never))),
    tooLong: await during(client.sample({ ...sampling, maxTokens: 10 ** 6 }, never)),
    models: await ask(server, '/v1/models'),
    probed: await ask(server, '/v1/completions', { model: MODEL, prompt, ...PROBE }),
    unloaded: await ask(server, '/v1/unload_lora_adapter', { lora_name: MODEL }),
    unloadedAlready: await ask(server, '/v1/unload_lora_adapter', { lora_name: MODEL }),
  };
  await proxy.close();
  await writeFile(OUTPUT, JSON.stringify(exchanges));
}

async function ask(server: string, path: string, request?: unknown): Promise<Exchange> {
  const headers = { 'Content-Type': 'application/json' };
  const sent = request === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(request) };
  const response = await fetch(`${server.replace(/\/v1$/, '')}${path}`, sent);
  const body = await response.text();
  return { path, request, status: response.status, answer: parseJson(body) ?? body };
}

/** Samples with one seed after another, until one reply ends by itself and the other is cut off. */
async function untilBothEnds(sample: (seed: number) => Promise<readonly Sample[]>): Promise<void> {
  for (let seed = 0; seed < 500; seed += 1) {
    const ends = (await sample(seed)).map(({ finishReason }) => finishReason);
    if (new Set(ends).size === 2) return;
  }
  throw new Error('No seed gave a reply that ends and one that is cut off: take a model that ends sooner.');
}

/** Works with a copy of an adapter that claims a higher rank than the server allows. */
async function withBroad(adapter: string, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(dirname(adapter), 'broad-'));
  try {
    await cp(adapter, folder, { recursive: true });
    const file = join(folder, 'adapter_config.json');
    const config = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...config, r: 4096 }));
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const [server, adapter] = process.argv.slice(2);
if (server === undefined || adapter === undefined) throw new Error('Usage: record-vllm.ts BASE_URL ADAPTER');
void record(server, adapter);
