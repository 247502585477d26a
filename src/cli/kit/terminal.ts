import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import { type Paint, PLAIN } from '../../trace/lines';
import { isLoggedAsJson, type LineFacts, logAs, type LogForm, objectOf } from './log-form';

export type Screen = NodeJS.WriteStream;

/** Returns colours if the stream is a terminal that has them, unless `NO_COLOR` has a value (https://no-color.org). */
export function paintFor(stream: Pick<Screen, 'isTTY'>, env = process.env): Paint {
  const isWanted = stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb';
  return isWanted ? COLOURS : PLAIN;
}

/** Applies a style without the check of a stream that newer versions of Node make: `paintFor` has decided. */
function stroke(format: Parameters<typeof styleText>[0]): Paint['strong'] {
  return (text) => styleText(format, text, { validateStream: false });
}

const COLOURS: Paint = {
  strong: stroke('bold'),
  faint: stroke('dim'),
  good: stroke('green'),
  bad: stroke('red'),
  busy: stroke('yellow'),
};

export function columnsOf(stream: Pick<Screen, 'isTTY' | 'columns'>): number | undefined {
  return stream.isTTY && stream.columns > 0 ? stream.columns : undefined;
}

/** Control characters other than line ends and tabs, and overrides of the writing direction. */
const STEERING = /\r(?!\n)|(?![\n\t\r])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu;

// eslint-disable-next-line no-control-regex -- these are control sequences
const STROKES = /(\x1b\[(?:1|2|22|31|32|33|39)m)/;

/**
 * Removes everything that steers a terminal; all output, much of it untrusted, passes through here.
 * `painted`: keeps our colours; untrusted text in it must have passed through `oneLine`.
 */
export function harmless(text: string, painted = false): string {
  if (!painted) return text.replace(STEERING, '');
  return text
    .split(STROKES)
    .map((part, index) => (index % 2 === 1 ? part : harmless(part)))
    .join('');
}

/** Serialises to JSON with control characters escaped, so that it cannot steer a terminal. */
export function toJson(value: unknown, indent = 2): string {
  const escape = (character: string): string =>
    `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, indent).replace(STEERING, escape);
}

/** Output for commander, whose messages quote arguments. */
export const HARMLESS_OUTPUT = {
  writeOut: (text: string): unknown => process.stdout.write(harmless(text)),
  writeErr: (text: string): unknown => process.stderr.write(harmless(text)),
};

/** Live view, which is erased before other output and redrawn after it. */
let onScreen: { readonly clear: () => unknown; readonly redraw: () => void } | null = null;

export function setOnScreen(picture: typeof onScreen): void {
  onScreen = picture;
}

/** Whether the last line printed on the terminal is unfinished. */
let isInLine = false;

/** Writes a message to stderr, as it is or as one JSON object. Only answers and requested output go to stdout. */
export function say(line: string, facts: LineFacts = {}): void {
  onScreen?.clear();
  const written = isLoggedAsJson() ? toJson(objectOf(line, facts), 0) : harmless(line);
  process.stderr.write(`${isInLine ? '\n' : ''}${written}\n`);
  isInLine = false;
  onScreen?.redraw();
}

/** Chooses the form of all that this process says, with what Node itself would print: warnings, and a crash. */
export function sayAs(form: LogForm): void {
  logAs(form);
  if (form === 'text') return;
  process.removeAllListeners('warning').on('warning', ({ message }) => {
    say(message, { level: 'WARN' });
  });
  process.once('uncaughtException', ({ message, stack = message }) => {
    say(stack, { level: 'ERROR' });
    process.exit(1);
  });
}

export function isPersonHere(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks the person at the keyboard; null once stdin is closed. @throws AbortError if the signal aborts */
export async function ask(prompt: string, signal?: AbortSignal): Promise<string | null> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const closed = once(reader, 'close').then(() => null);
  try {
    return await Promise.race([reader.question(prompt, { signal }), closed]);
  } finally {
    reader.close();
  }
}

let isReaderNeeded = true;

/** Lets the command continue when the reader of its output has exited, as `head` does. */
export function outliveReader(): void {
  isReaderNeeded = false;
}

const REMEDY = 'make room there, or send it elsewhere, and run the command again';

/** Why output was lost, and what to do. */
let loss: string | null = null;

function noteLoss(error: NodeJS.ErrnoException, remedy = REMEDY): void {
  if (error.code === 'EPIPE') return;
  loss ??= `the output of this command could not be written (${error.message}): ${remedy}`;
}

/** Returns a sentence about output that could not be written; null if all was, or if its reader had exited. */
export function outputLoss(): string | null {
  return loss;
}

/** Lets no failed write end a command: a message to stderr is lost, and `outputLoss` tells what stdout lost. */
export function surviveLosses(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' && isReaderNeeded) process.exit();
    noteLoss(error);
  });
  for (const stream of [process.stdout, process.stderr]) if (!(stream instanceof Socket)) writeWhole(stream);
}

/** Replaces how Node writes to a file: it would silently drop what a nearly full disk did not take. */
function writeWhole(stream: Screen & { readonly fd: number }): void {
  stream._write = (text: Buffer, _, done) => {
    try {
      writeFileSync(stream.fd, text);
      done();
    } catch (error) {
      done(error as Error);
    }
  };
}

interface Printing {
  /** Gives a pipe the text unchanged. */
  readonly exact?: boolean;
  /** As in `harmless`. */
  readonly painted?: boolean;
  /** Adds no line end. */
  readonly isPart?: boolean;
  /** What to do if the text cannot be written. @default to run the command again */
  readonly remedy?: string;
}

/** Writes to stdout and waits for slow readers. `outputLoss` tells whether it could not. */
export async function print(
  text: string,
  { exact = false, painted = false, isPart = false, remedy }: Printing = {},
): Promise<void> {
  const shown = exact && !process.stdout.isTTY ? text : harmless(text, painted);
  if (process.stdout.isTTY && process.stderr.isTTY) share(isPart && !shown.endsWith('\n'));
  await new Promise<void>((resolve) => {
    process.stdout.write(isPart || shown.endsWith('\n') ? shown : `${shown}\n`, (error) => {
      if (error) noteLoss(error, remedy);
      resolve();
    });
  });
}

/** Erases the live view before output to the same terminal. @param goesOn whether its last line is unfinished */
function share(goesOn: boolean): void {
  onScreen?.clear();
  isInLine = goesOn;
}
