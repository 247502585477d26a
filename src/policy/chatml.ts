import type { Message } from '../protocol/message';

/**
 * Writes a conversation as ChatML, up to where the policy begins its reply.
 *
 * This is the only chat template of the product: what is trained on and what is served is the same text, so no
 * template of a tokenizer or a server ever comes between the two. Each turn is `<|im_start|>role`, a line break, its
 * text and `<|im_end|>`; there is no default system message.
 */
export function renderChatml(messages: readonly Message[]): string {
  const turns = messages.map(({ role, text }) => `<|im_start|>${role}\n${withoutMarkers(text)}<|im_end|>\n`);
  return `${turns.join('')}<|im_start|>assistant\n`;
}

/**
 * A text that a tokenizer reads as nothing but text: what could be a marker, such as `<|im_end|>`, is broken by a
 * space, or whoever writes a question could write turns of others too. Half a surrogate pair, which has no UTF-8,
 * becomes U+FFFD.
 */
export function withoutMarkers(text: string): string {
  return text.replace(MARKER_START, '< |').replace(LONE_SURROGATE, '\uFFFD');
}

/** The begin of `<|name|>`, as every marker of the ChatML family is written; `a <| b` in a program is left alone. */
const MARKER_START = /<\|(?=[^\s|<>]{1,64}\|>)/g;

const LONE_SURROGATE = /\p{Surrogate}/gu;
