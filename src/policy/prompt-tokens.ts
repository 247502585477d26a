import { POLICY_FAILURES } from '../training/policy-failures';
import type { PolicyClient } from './policy-client';
import { PolicyError } from './policy-error';
import type { ServedPolicy } from './served-policy';

/** How many prompts are remembered: a question is drawn again in later cycles, and its prompt is the same then. */
const REMEMBERED = 256;

/** Token ids of prompts, as the tokenizer of a policy makes them. Remembers the last ones, whichever checkpoint asked. */
export class PromptTokens {
  private readonly known = new Map<string, readonly number[]>();

  /** @throws PolicyError `Policy.PromptTooLong` beside those of the client */
  async of(
    prompt: string,
    { tokenizerSha256, model, maxPromptTokens }: ServedPolicy,
    client: PolicyClient,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const key = `${tokenizerSha256} ${prompt}`;
    const tokens = this.known.get(key) ?? (await client.tokenize(model, prompt, signal));
    this.remember(key, tokens);
    if (tokens.length <= maxPromptTokens) return tokens;
    throw new PolicyError(
      POLICY_FAILURES.promptTooLong,
      `the prompt for ${model} has ${tokens.length} tokens, and it is to be given ${maxPromptTokens} at most`,
      'Ask a shorter question, or train with a higher training.policy.maxPromptTokens.',
    );
  }

  /** Used last is kept longest: a map lists its keys in the order they were set. */
  private remember(key: string, tokens: readonly number[]): void {
    this.known.delete(key);
    this.known.set(key, tokens);
    for (const oldest of [...this.known.keys()].slice(0, -REMEMBERED)) this.known.delete(oldest);
  }
}
