import pc from 'picocolors';
import { type Paint, PLAIN } from '../trace/lines';

export type Screen = NodeJS.WriteStream;

/** Colours where a stream is a terminal that has them, unless `NO_COLOR` is set (https://no-color.org). */
export function paintFor(stream: Pick<Screen, 'isTTY'>, env = process.env): Paint {
  // An empty value counts as none, says the convention.
  const isWanted = stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb';
  if (!isWanted) return PLAIN;
  const { bold, dim, green, red, yellow } = pc.createColors(true);
  return { strong: bold, faint: dim, good: green, bad: red, busy: yellow };
}

export function columnsOf(stream: Pick<Screen, 'isTTY' | 'columns'>): number | undefined {
  return stream.isTTY && stream.columns > 0 ? stream.columns : undefined;
}

/** A model's words must not steer the terminal they are shown on; lines and tabs may stay. */
export function harmless(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, '');
}

/** Writes a line for the person who waits. Answers and asked-for output go to stdout, everything else comes here. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Writes what was asked for to stdout, and waits until it is out: a slow reader of a pipe gets all of it. */
export async function print(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(text.endsWith('\n') ? text : `${text}\n`, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
