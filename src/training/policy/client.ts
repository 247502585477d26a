import { z } from 'zod';
import { diagnose, parseJson, redact, saidIn, sendOnce } from '../../activities/models';
import { expectationIn } from '../../config/expectation';
import type { Message } from '../../plan/plan';
import { briefly } from '../../plan/plan-error';
import type { KeptSample } from '../activities/batch';
import { badReply, cannotLoad, POLICY_FAILURES, PolicyError, refused, unavailable } from './errors';
import type { TrainingTurn } from '../records';
import { endsOf, prepareTurns, toTurns } from './chat';
import type { CheckpointManifest } from './serving';
import { thoughtsOf, withoutThoughts } from './thoughts';

export interface SampleRequest {
  readonly model: string;
  /** Number of the model's token ids: a server that answers with a higher one has another checkpoint. */
  readonly vocabulary: number;
  readonly prompt: readonly number[];
  /** Ids of the tokens that end a reply; empty: as the server's model is configured. */
  readonly ends?: readonly number[];
  readonly n: number;
  readonly seed?: number;
  readonly temperature: number;
  readonly maxTokens: number;
}

/** One reply. If it is complete, its tokens include the end marker; its text does not. No text has thoughts. */
export type Sample = Omit<KeptSample, 'promptTokenIds'>;

/** Unmodified sampling: vLLM takes omitted values from `generation_config.json`, where Qwen penalizes repetition. */
const UNTOUCHED = {
  top_p: 1,
  top_k: -1,
  min_p: 0,
  repetition_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
} as const;

/** A template writes its own markers, so the tokenizer adds none. */
const AS_PROMPT = { add_generation_prompt: true, add_special_tokens: false } as const;

/**
 * Client for the requests that vLLM and our own policy server have in common, each one HTTP request. Prompts go out as
 * token ids, so that training sees exactly what was sampled from. @throws PolicyError; the signal's reason if aborted
 */
export class PolicyClient {
  constructor(private readonly baseUrl: string) {}

  /** Has the server write a prompt by the model's chat template, up to the reply, or to its thoughts. */
  async tokenize(
    model: string,
    messages: readonly TrainingTurn[],
    signal: AbortSignal,
    thinking?: CheckpointManifest['thinking'],
  ): Promise<number[]> {
    // vLLM serves only this route outside `/v1`.
    const url = `${this.baseUrl.replace(/\/v1\/?$/, '')}/tokenize`;
    const how = { ...AS_PROMPT, chat_template_kwargs: { enable_thinking: thinking !== undefined } };
    const answer = await post(url, { model, messages, ...how }, signal);
    return this.read(answer, tokenizeReplySchema, model).tokens;
  }

  async sample(request: SampleRequest, signal: AbortSignal): Promise<Sample[]> {
    const { model, prompt, ends = [], n, seed, temperature, maxTokens } = request;
    const stop_token_ids = ends.length === 0 ? undefined : ends;
    const asked = { model, prompt, n, seed, temperature, max_tokens: maxTokens, stop_token_ids };
    const content = { ...asked, ...UNTOUCHED, logprobs: 0, return_token_ids: true };
    const answer = await post(this.urlOf('completions'), content, signal);
    const reply = this.read(answer, completionReplySchema, model);
    const problem = findMismatch(reply, request);
    if (problem !== null) throw badReply(this.baseUrl, problem);
    return reply.choices.toSorted((a, b) => a.index - b.index).map((choice) => this.sampleOf(choice));
  }

  /** Returns the log-probability of each token but the first, given those before it, at temperature 1. */
  async score(model: string, tokenIds: readonly number[], signal: AbortSignal): Promise<number[]> {
    const asked = { model, prompt: tokenIds, max_tokens: 1, temperature: 1, prompt_logprobs: 0 };
    const answer = await post(this.urlOf('completions'), { ...asked, ...UNTOUCHED }, signal);
    const { model: answering, choices } = this.read(answer, scoredReplySchema, model);
    const scores = choices[0]?.prompt_logprobs ?? [];
    const logprobs = tokenIds.flatMap((token, place) => scores[place]?.get(`${token}`) ?? []);
    if (answering === model && logprobs.length === tokenIds.length - 1) return logprobs;
    throw badReply(
      this.baseUrl,
      `scores ${logprobs.length} tokens of ${briefly(answering)}, not those of ${model}`,
    );
  }

  /** Wakes a server that sleeps, as after a trainer that died during an update; others lack the route. */
  async wake(signal: AbortSignal): Promise<void> {
    const root = this.baseUrl.replace(/\/v1\/?$/, '');
    const { ok, body } = await send(`${root}/is_sleeping`, { method: 'GET', signal });
    if (!ok || !sleepingSchema.safeParse(parseJson(body)).data?.is_sleeping) return;
    await post(`${root}/wake_up`, {}, signal);
  }

  /** Registers a checkpoint under a model name; it may be loaded already. The server resolves the folder. */
  async load(model: string, folder: string, signal: AbortSignal): Promise<void> {
    const content = { lora_name: model, lora_path: folder };
    const { ok, status, body } = await post(this.urlOf('load_lora_adapter'), content, signal);
    const reason = refusalIn(body);
    if (ok || reason.includes('already been loaded')) return;
    throw cannotLoad(this.baseUrl, model, folder, { status, reason });
  }

  private urlOf(route: string): string {
    return `${this.baseUrl.replace(/\/$/, '')}/${route}`;
  }

  private read<Schema extends z.ZodType>(
    { ok, status, body }: Answer,
    schema: Schema,
    model: string,
  ): z.output<Schema> {
    if (!ok) throw refused(this.baseUrl, model, { status, reason: refusalIn(body) });
    const { success, data, error } = schema.safeParse(parseJson(body));
    if (success) return data;
    const [issue] = error.issues;
    const place = ['the reply', ...(issue?.path ?? [])].join('.');
    const expectation = issue === undefined ? '' : `: ${expectationIn(issue)}`;
    throw badReply(this.baseUrl, `cannot be read: ${place}${expectation}`);
  }

  private sampleOf({
    text,
    logprobs,
    token_ids: completionTokenIds,
    finish_reason,
  }: CompletionChoice): Sample {
    const sampled = { text, completionTokenIds, sampledLogprobs: logprobs.token_logprobs };
    if (finish_reason !== 'abort') return { ...sampled, finishReason: finish_reason };
    // vLLM aborts replies when it is put to sleep or stopped.
    throw unavailable(`the policy server ${this.baseUrl} broke off a reply`);
  }
}

/** Describes a mismatch between an answer and its request; null if they match. */
function findMismatch(
  { model, choices }: z.infer<typeof completionReplySchema>,
  request: SampleRequest,
): string | null {
  if (model !== request.model) return `comes from ${briefly(model)}, although ${request.model} was asked`;
  const replies = new Set(choices.map(({ index }) => index)).size;
  if (choices.length !== request.n || replies !== request.n) {
    return `has ${replies} replies, but ${request.n} were requested`;
  }
  const sent = request.prompt.join();
  if (choices.some(({ prompt_token_ids: read }) => read && read.join() !== sent)) {
    return 'belongs to a different prompt';
  }
  const isKnown = choices.every(({ token_ids: ids }) => ids.every((id) => id < request.vocabulary));
  return isKnown ? null : `holds tokens beyond the ${request.vocabulary} that ${request.model} knows`;
}

type Answer = Pick<Response, 'ok' | 'status'> & { readonly body: string };

function post(url: string, content: unknown, signal: AbortSignal): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json' };
  return send(url, { method: 'POST', headers, body: JSON.stringify(content), signal });
}

async function send(url: string, request: RequestInit & { readonly signal: AbortSignal }): Promise<Answer> {
  try {
    const response = await sendOnce(url, request);
    return { ok: response.ok, status: response.status, body: await response.text() };
  } catch (error) {
    request.signal.throwIfAborted();
    throw unavailable(`the policy server gave no answer to ${url}: ${redact(diagnose(error).reason, null)}`);
  }
}

/** Returns the reason in an error response of vLLM, our own server or a framework in front of them. */
function refusalIn(body: string): string {
  return redact(saidIn(body).sentence, null);
}

const tokenizeReplySchema = z.object({ tokens: z.array(z.int().nonnegative()) });

/** Rounding error by which the log-probability of a nearly certain token may exceed 0. */
const ROUNDING = 1e-3;

const logprobSchema = z
  .number()
  .max(ROUNDING)
  .transform((logprob) => Math.min(logprob, 0));

const choiceSchema = z
  .object({
    index: z.int().nonnegative(),
    text: z.string(),
    token_ids: z.array(z.int().nonnegative()).min(1),
    logprobs: z.object({ token_logprobs: z.array(logprobSchema) }),
    finish_reason: z.enum(['stop', 'length', 'abort']),
    prompt_token_ids: z.array(z.int().nonnegative()).nullish(),
  })
  .refine((choice) => choice.token_ids.length === choice.logprobs.token_logprobs.length, {
    error: 'expected a log-probability for each token',
    path: ['logprobs', 'token_logprobs'],
  });
type CompletionChoice = z.infer<typeof choiceSchema>;

const sleepingSchema = z.object({ is_sleeping: z.boolean() });

/** Log-probabilities by token id. */
const scoresSchema = z
  .record(z.string(), z.object({ logprob: logprobSchema }))
  .transform((scores) => new Map(Object.entries(scores).map(([token, { logprob }]) => [token, logprob])));

/** One entry per token of the prompt; the first has none. */
const scoredReplySchema = z.object({
  model: z.string(),
  choices: z
    .array(
      z.object({
        prompt_logprobs: z.array(scoresSchema.nullable()),
      }),
    )
    .length(1),
});

const completionReplySchema = z.object({ model: z.string(), choices: z.array(choiceSchema) });

export interface ServedPolicy extends Pick<
  CheckpointManifest,
  'model' | 'folder' | 'vocabulary' | 'maxPromptTokens' | 'chat' | 'thinking'
> {
  readonly baseUrl: string;
}

export interface PolicyQuestion extends Omit<SampleRequest, 'model' | 'vocabulary' | 'prompt' | 'ends'> {
  readonly messages: readonly Message[];
}

/** Asks a policy, in training and in serving. Has the server load a model that it lost, e.g. in a restart. */
export async function askPolicy(
  { baseUrl, model, folder, vocabulary, maxPromptTokens, chat, thinking }: ServedPolicy,
  { messages, ...sampling }: PolicyQuestion,
  signal: AbortSignal,
): Promise<{ readonly promptTokenIds: readonly number[]; readonly samples: readonly Sample[] }> {
  const client = new PolicyClient(baseUrl);
  const turns = prepareTurns(chat, toTurns(messages));
  const ends = endsOf(chat);
  const thoughts = thinking === undefined ? null : thoughtsOf(chat, model);
  const ask = async () => {
    const prompt = await client.tokenize(model, turns, signal, thinking);
    if (prompt.length > maxPromptTokens) {
      throw new PolicyError(
        POLICY_FAILURES.promptTooLong,
        `the prompt for ${model} has ${prompt.length} tokens, and at most ${maxPromptTokens} are allowed`,
        'Ask a shorter question, or train with a higher training.policy.maxPromptTokens.',
      );
    }
    const samples = await client.sample({ ...sampling, model, vocabulary, prompt, ends }, signal);
    const plans = thoughts === null ? samples : samples.map((each) => withoutThoughts(each, thoughts));
    return { promptTokenIds: prompt, samples: plans };
  };
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof PolicyError) || error.code !== POLICY_FAILURES.unknownModel) throw error;
    await client.load(model, folder, signal);
    return ask();
  }
}
