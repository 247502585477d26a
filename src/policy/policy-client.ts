import type { z } from 'zod';
import { POLICY_FAILURES } from '../training/policy-failures';
import { PolicyError } from './policy-error';
import { completionReplySchema, tokenizeReplySchema, type CompletionReply } from './policy-reply';
import { post, type Answer } from './post';
import { readJson } from './read-json';

/** Replies wanted to one prompt. */
export interface SampleRequest {
  /** As the server calls the checkpoint. */
  readonly model: string;
  /** Token ids. */
  readonly prompt: readonly number[];
  /** How many replies. */
  readonly n: number;
  /** Without it another reply each time. */
  readonly seed?: number;
  readonly temperature: number;
  readonly maxTokens: number;
}

/** One reply of a policy. */
export interface Sample {
  /** Up to the end marker, which it does not hold. */
  readonly text: string;
  /** The end marker included where it came to its end. */
  readonly tokenIds: readonly number[];
  /** Of each token, as it was sampled. */
  readonly logprobs: readonly number[];
  readonly finishReason: 'stop' | 'length';
}

/**
 * The verbs of a policy server, each one HTTP request: what vLLM's OpenAI-compatible server and our own small one have
 * in common. Prompts go out as token ids, so that what was sampled from is what will be trained on.
 *
 * @throws PolicyError from each; the signal's reason where it was aborted
 */
export class PolicyClient {
  /** @param baseUrl ends in `/v1` */
  constructor(private readonly baseUrl: string) {}

  /** Token ids of a text, markers of ChatML included. */
  async tokenize(model: string, text: string, signal: AbortSignal): Promise<number[]> {
    // The one route that vLLM has beside `/v1`.
    const url = `${this.baseUrl.replace(/\/v1\/?$/, '')}/tokenize`;
    const answer = await post(url, { model, prompt: text, add_special_tokens: false }, signal);
    return this.read(answer, tokenizeReplySchema, model).tokens;
  }

  /** As many replies as asked for, in the order of their index. */
  async sample(request: SampleRequest, signal: AbortSignal): Promise<Sample[]> {
    const { model, prompt, n, seed, temperature, maxTokens } = request;
    const answer = await post(
      this.urlOf('completions'),
      {
        model,
        prompt,
        n,
        ...(seed !== undefined && { seed }),
        temperature,
        top_p: 1,
        top_k: -1,
        max_tokens: maxTokens,
        logprobs: 0,
        return_token_ids: true,
      },
      signal,
    );
    const reply = this.read(answer, completionReplySchema, model);
    const problem = findMismatch(reply, request);
    if (problem !== null) throw this.badReply(problem);
    return reply.choices.toSorted((a, b) => a.index - b.index).map((choice) => this.sampleOf(choice));
  }

  /** Makes a checkpoint known by a name; it may be known already. `path` is as the server's machine sees it. */
  async load(model: string, path: string, signal: AbortSignal): Promise<void> {
    const answer = await post(this.urlOf('load_lora_adapter'), { lora_name: model, lora_path: path }, signal);
    if (answer.ok || answer.reason.includes('already been loaded')) return;
    throw new PolicyError(
      POLICY_FAILURES.unknownModel,
      `the policy server ${this.baseUrl} cannot load ${model} from ${path}: it answered ${said(answer)}`,
      'Check that the folder is there on its machine, and that a vLLM server was started with --enable-lora and ' +
        'VLLM_ALLOW_RUNTIME_LORA_UPDATING=1; a whole model it must be started with.',
    );
  }

  private urlOf(route: string): string {
    return `${this.baseUrl.replace(/\/$/, '')}/${route}`;
  }

  private read<Schema extends z.ZodType>(answer: Answer, schema: Schema, model: string): z.output<Schema> {
    if (!answer.ok) throw this.refused(answer, model);
    const { success, data, error } = schema.safeParse(readJson(answer.body));
    if (success) return data;
    const [issue] = error.issues;
    const place = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
    throw this.badReply(`cannot be read${place}: ${issue?.message ?? 'no JSON'}`);
  }

  private refused(answer: Extract<Answer, { ok: false }>, model: string): PolicyError {
    return answer.status === 404
      ? new PolicyError(
          POLICY_FAILURES.unknownModel,
          `the policy server ${this.baseUrl} does not know ${model}: it answered ${said(answer)}`,
          'Check that the address is that of a policy server and ends in /v1.',
        )
      : new PolicyError(
          POLICY_FAILURES.rejected,
          `the policy server ${this.baseUrl} refused a request to ${model}: it answered ${said(answer)}`,
          'Correct the settings of the policy that it names.',
        );
  }

  private sampleOf({ text, token_ids: tokenIds, logprobs, finish_reason: finishReason }: Choice): Sample {
    if (finishReason === 'abort') {
      throw new PolicyError(
        POLICY_FAILURES.unavailable,
        `the policy server ${this.baseUrl} broke off a reply, as it does when it is put to sleep or stopped`,
        'The request is made again by itself.',
      );
    }
    return { text, tokenIds, logprobs: logprobs.token_logprobs, finishReason };
  }

  private badReply(problem: string): PolicyError {
    return new PolicyError(
      POLICY_FAILURES.badReply,
      `an answer of the policy server ${this.baseUrl} ${problem}`,
      'Check that it is vLLM 0.31 or our own policy server, and that the weights it serves are sound.',
    );
  }
}

type Choice = CompletionReply['choices'][number];

function said({ status, reason }: Extract<Answer, { ok: false }>): string {
  return reason === '' ? `${status}` : `${status}, ${reason}`;
}

/** What the answer says of another request than ours; null where it fits. */
function findMismatch({ model, choices }: CompletionReply, request: SampleRequest): string | null {
  if (model !== request.model) return `is by ${model}, and ${request.model} was asked`;
  const indexes = new Set(choices.map(({ index }) => index));
  if (choices.length !== request.n || indexes.size !== request.n) {
    return `has ${indexes.size} replies, and ${request.n} were asked for`;
  }
  const isOther = choices.some(({ prompt_token_ids: read }) => read && !isEqual(read, request.prompt));
  return isOther ? 'is to another prompt than was sent' : null;
}

function isEqual(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}
