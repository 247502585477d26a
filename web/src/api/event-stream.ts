import type { LiveEvent } from '../../../src/client/live/live-events';
import { connection } from './connection';
import { reach, Refused } from './request';
import { solvePath } from './queries';

/** Event as it is sent, without the cursor, which is the id of its frame. */
export type SolveEvent = LiveEvent extends infer Event
  ? Event extends LiveEvent
    ? Omit<Event, 'cursor'>
    : never
  : never;

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5000;

/** Follows a solve to its end. If the stream breaks, it resumes after the last event received. */
export async function followSolve(
  id: string,
  take: (event: SolveEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let [cursor, wait] = ['', FIRST_WAIT_MS];
  for (;;) {
    try {
      for await (const frame of framesOf(id, cursor, signal)) {
        wait = FIRST_WAIT_MS;
        if (frame.id === '') continue;
        cursor = frame.id;
        take(JSON.parse(frame.data) as SolveEvent);
        if (frame.event === 'ended') return;
      }
    } catch (error) {
      if (isFinal(error)) return;
      if (!signal.aborted) connection.set('lost');
    }
    if (signal.aborted) return;
    await pause(wait, signal);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof Refused && error.status < 500 && error.status !== 429;
}

interface Frame {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

async function* framesOf(id: string, cursor: string, signal: AbortSignal): AsyncGenerator<Frame> {
  const headers = cursor === '' ? undefined : { 'last-event-id': cursor };
  const response = await reach(`${solvePath(id)}/events`, { signal, ...(headers && { headers }) });
  if (response.status === 204) throw new Refused(204, 'the end was told already');
  if (!response.ok || response.body === null) throw new Refused(response.status, 'the stream was refused');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const frames = (text + value).split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) yield readFrame(frame);
  }
}

/** Parses a server-sent event; the fields of a comment are empty. */
function readFrame(frame: string): Frame {
  const fields = new Map(frame.split('\n').map((line) => splitOnce(line)));
  return { event: fields.get('event') ?? '', id: fields.get('id') ?? '', data: fields.get('data') ?? '' };
}

function splitOnce(line: string): [name: string, value: string] {
  const at = line.indexOf(': ');
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 2)];
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
  });
}
