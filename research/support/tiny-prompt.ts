import type { Message } from '../../src/plan/plan';

/** Writes a prompt as a tiny model's chat template does, for examples that name the whole text. */
export function tinyPrompt(messages: readonly Message[]): string {
  const turns = messages.map(({ role, text }) => `<|im_start|>${role}\n${text}<|im_end|>\n`);
  return `${turns.join('')}<|im_start|>assistant\n`;
}
