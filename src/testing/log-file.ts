import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { RequestObserver } from './request-log';
import type { Simulation } from './simulated-providers';

/** Has simulated providers go on with the log of those who wrote to this file before. */
export function continueLog(file: string): Required<Pick<Simulation, 'firstSequence' | 'observe'>> {
  return { firstSequence: countRequests(file) + 1, observe: appendTo(file) };
}

/** The requests of those who wrote this log before: numbers, and ids made of them, are not given out twice. */
function countRequests(file: string): number {
  if (!existsSync(file)) return 0;
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(RECEIVED)).length;
}

/** One JSON object a line, on disk before the server goes on: whoever is killed next, the count holds. */
function appendTo(file: string): RequestObserver {
  return (event, record) => {
    appendFileSync(file, `${JSON.stringify({ event, ...record })}\n`);
  };
}

const RECEIVED = '{"event":"received"';
