import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../../src/network/listen';

/** A request as received. */
export interface PolicyRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A raw response with any status and body. */
export interface OddAnswer {
  readonly status: number;
  readonly body: string;
}

/** A policy server without a model, which sends scripted replies in vLLM's format. */
export interface ScriptedPolicy {
  /** Base URL, ending in `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly PolicyRequest[];
  /** Bodies of the requests to one route. */
  bodiesTo(path: string): readonly PolicyRequest['body'][];
  /** Sets the replies to the next requests, in order; the last one repeats. */
  script(...replies: readonly string[]): void;
  /** Sets a function that writes each reply. */
  writeEach(write: Writer): void;
  /** Answers the next request to a path with this response. */
  answerOnce(path: string, answer: OddAnswer): void;
  /** Names of the models that are loaded. */
  readonly known: Set<string>;
  close(): Promise<void>;
}

/** A message as a policy server reads it. */
type Turn = Readonly<Record<'role' | 'content', string>>;

/** Writes a reply, given the request and the reply's index in it. */
export type Writer = (body: PolicyRequest['body'], place: number) => string;

/** Token id of the end of a reply; the other tokens are bytes. */
const END = 256;

export async function startScriptedPolicy(...known: readonly string[]): Promise<ScriptedPolicy> {
  const requests: PolicyRequest[] = [];
  const odd = new Map<string, OddAnswer[]>();
  const names = new Set(known);
  let write = inTurn(['']);

  const routes: Readonly<Record<string, (body: PolicyRequest['body']) => OddAnswer>> = {
    '/health': () => ({ status: 200, body: '' }),
    '/tokenize': ({ messages }) => {
      const turns = (messages as readonly Turn[]).map(
        ({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`,
      );
      const tokens = [...Buffer.from(`${turns.join('')}<|im_start|>assistant\n`)];
      return json(200, { count: tokens.length, max_model_len: 8192, tokens, token_strs: null });
    },
    '/v1/completions': (body) => {
      const model = String(body.model);
      if (!names.has(model)) {
        const message = `The model \`${model}\` does not exist.`;
        return json(404, { error: { message, type: 'NotFoundError', param: 'model', code: 404 } });
      }
      return json(200, completionOf(body, write));
    },
    '/v1/load_lora_adapter': ({ lora_name: name }) => {
      names.add(String(name));
      return { status: 200, body: `Success: LoRA adapter '${String(name)}' added successfully.` };
    },
  };

  const server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const body = JSON.parse((await text(request)) || '{}') as PolicyRequest['body'];
    requests.push({ path, body });
    const { status, body: content } = odd.get(path)?.shift() ??
      routes[path]?.(body) ?? { status: 404, body: '{"detail":"Not Found"}' };
    response.writeHead(status).end(content);
  }

  const listening = await listen(server, 0, '127.0.0.1');
  return {
    baseUrl: `${listening.url}/v1`,
    requests,
    known: names,
    bodiesTo: (path) => requests.filter((request) => request.path === path).map(({ body }) => body),
    script: (...replies) => {
      write = inTurn(replies);
    },
    writeEach: (each) => {
      write = each;
    },
    answerOnce: (path, each) => odd.set(path, [...(odd.get(path) ?? []), each]),
    close: () => listening.close(),
  };
}

/** Returns the replies in order, across all requests; the last one repeats. */
function inTurn(replies: readonly string[]): Writer {
  let said = 0;
  return () => replies[Math.min(said++, replies.length - 1)] ?? '';
}

function completionOf(body: PolicyRequest['body'], write: Writer): unknown {
  const { model, prompt, n } = body;
  const promptIds = prompt as readonly number[];
  const choices = Array.from({ length: Number(n) }, (_, place) =>
    choiceOf(place, write(body, place), promptIds),
  );
  const written = choices.reduce((sum, { token_ids: ids }) => sum + ids.length, 0);
  return {
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1_760_000_000,
    model,
    choices,
    service_tier: null,
    system_fingerprint: null,
    usage: {
      prompt_tokens: promptIds.length,
      completion_tokens: written,
      total_tokens: promptIds.length + written,
      prompt_tokens_details: null,
    },
  };
}

function choiceOf(index: number, text: string, promptIds: readonly number[]) {
  const ids = [...Buffer.from(text), END];
  return {
    index,
    text,
    logprobs: {
      text_offset: ids.map((_id, at) => at),
      token_logprobs: ids.map(() => -0.25),
      tokens: ids.map((id) => String.fromCharCode(id)),
      top_logprobs: ids.map(() => null),
    },
    finish_reason: 'stop',
    stop_reason: null,
    token_ids: ids,
    prompt_logprobs: null,
    prompt_token_ids: promptIds,
  };
}

function json(status: number, body: unknown): OddAnswer {
  return { status, body: JSON.stringify(body) };
}
