import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { say } from '../terminal';
import type { Person } from './ask-verdict';
import { editText } from './edit-text';

/**
 * The person whose keyboard is standard input. Each question has a reader of its own, so that between two of them an
 * editor has the keyboard to itself; lines are left to the terminal, so that Ctrl-C stays a signal.
 *
 * @param signal takes a question back: it then rejects with an AbortError
 */
export function personAtTerminal(signal: AbortSignal): Person {
  return {
    ask: async (prompt) => {
      const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
      const closed = once(reader, 'close').then(() => null);
      try {
        return await Promise.race([reader.question(prompt, { signal }), closed]);
      } finally {
        reader.close();
      }
    },
    tell: say,
    edit: (text) => editText(text, 'plan.yaml'),
  };
}
