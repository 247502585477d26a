import type { Usage } from '../../protocol/solve';
import type { FinishReason } from './model';
import { failedMidway } from './stream';

/**
 * Vendors' words for the way an answer ended, by their meaning; the first match wins, and any other word is a whole
 * answer. OpenAI, Mistral (`model_length`), Anthropic, Gemini, Zhipu (`sensitive`, `network_error`), Cohere, DeepSeek
 * (`insufficient_system_resource`), vLLM and SGLang (`abort`). Anthropic's `pause_turn` wants a further request.
 */
const ENDINGS: readonly (readonly [words: RegExp, finish: FinishReason | 'broken'])[] = [
  [/length|max_?(?:output_|new_)?tokens|context_window|^continuation$/i, 'length'],
  [/refus|filter|safety|prohibited|block|spii|recitation|language|sensitive|toxic|armor/i, 'refusal'],
  [/abort|error|insufficient|malformed|timeout|pause|unexpected|too_many|^(?:image_)?other$/i, 'broken'],
];

interface AnswerEnd {
  /** Name of the vendor's field. */
  readonly field: string;
  readonly usage: Usage | null;
  /** Output tokens that the request allowed. */
  readonly room: number;
}

/**
 * Returns how an answer ended. One that does not say so is cut if it used up its output tokens.
 * @throws TransportError if the vendor could not go on
 */
export function finishOf(reason: string | null | undefined, { field, usage, room }: AnswerEnd): FinishReason {
  if (!reason) return usage !== null && usage.outputTokens >= room ? 'length' : 'stop';
  const finish = ENDINGS.find(([words]) => words.test(reason))?.[1] ?? 'stop';
  if (finish === 'broken') throw failedMidway(`${field} is ${reason}`);
  return finish;
}

/** Follows the end of a stream: a finish reason, or in its place the stream's own end after a usage. */
export class StreamEnd {
  private lastReason = '';
  private wasNamed = false;

  /** Takes what an event says. What is written without a reason takes back an earlier one: relays may send one too early. */
  take(named: string | null | undefined, written: string): void {
    this.wasNamed ||= Boolean(named);
    if (named) this.lastReason = named;
    else if (written !== '') this.lastReason = '';
  }

  get reason(): string {
    return this.lastReason;
  }

  /** Returns whether the answer is whole. Servers count it last, so one that ends uncounted may have broken off. */
  isReached(sign: {
    readonly hasEnded: boolean;
    readonly hasText: boolean;
    readonly usage: unknown;
  }): boolean {
    if (this.lastReason !== '') return true;
    return !this.wasNamed && sign.hasEnded && sign.hasText && sign.usage != null;
  }
}
