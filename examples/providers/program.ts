import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Simulation } from '../../src/testing';

/** Makes simulated providers continue the log that earlier ones wrote to this file. */
export function continueLog(file: string): Required<Pick<Simulation, 'firstSequence' | 'observe'>> {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  // Sequence numbers, and ids derived from them, must not repeat.
  const received = lines.filter((line) => line.startsWith('{"event":"received"')).length;
  return {
    firstSequence: received + 1,
    // Appends one JSON line synchronously, so that the count is right whichever process is killed next.
    observe: (event, record) => {
      appendFileSync(file, `${JSON.stringify({ event, ...record })}\n`);
    },
  };
}

/** @throws Error for a text that is not a port */
export function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65535) return port;
  throw new Error(`--port takes a number from 0 (any free port) to 65535, not "${text}".`);
}
