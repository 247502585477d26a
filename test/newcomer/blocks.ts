import { type Fence, fencesOf } from './pages';

/**
 * A step that a newcomer takes from a document, in document order. A fenced block takes part if the word `newcomer`
 * follows its language; a rendered page does not show that word:
 *
 * - `yaml`, `ts`, `json` and so on: a file. Its first line is a comment that begins with its name: `// worker.ts: …`.
 * - `sh`: one command per line, all in one shell. A backslash at the end continues a line. `# leave it running` in a
 *   comment keeps the command running; `# exit code 3` names its exit code, which is otherwise 0.
 * - `text`: output of the command before it, or of the command in a line that begins with `$ `. The lines must be
 *   printed in this order; others may come between them. `…` matches anything, a number matches any number, and the
 *   id of a run matches that of any run.
 */
export type Deed = WrittenFile | Command;

export interface WrittenFile {
  readonly kind: 'file';
  readonly name: string;
  readonly content: string;
}

export interface Command {
  readonly kind: 'command';
  readonly line: string;
  readonly stays: boolean;
  readonly exitCode: number;
  readonly prints: string[];
}

/** @throws Error that quotes a file without a name, or output without a command before it */
export function readDeeds(document: string): Deed[] {
  const deeds: Deed[] = [];
  for (const { language, content } of fencesOf(document).filter(({ isPlayed }) => isPlayed)) {
    if (language === 'sh') deeds.push(...commandsIn(content));
    else if (language === 'text') addPrinted(deeds, content);
    else deeds.push(readFile(content));
  }
  return deeds;
}

/** Returns the commands of an `sh` block, or of a `text` block that shows them with their output. */
export function commandsOf({ language, content }: Fence): Command[] {
  return language === 'sh'
    ? commandsIn(content)
    : [...content.matchAll(/^\$ (.*)$/gm)].map(([, line = '']) => readCommand(line));
}

function commandsIn(content: string): Command[] {
  return content
    .replace(/ *\\\n */g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map(readCommand);
}

function readCommand(text: string): Command {
  const [, line = '', comment = ''] = /^(.*?)(?:\s+#\s(.*))?$/.exec(text) ?? [];
  const exitCode = Number(/exit code (\d+)/.exec(comment)?.[1] ?? 0);
  return { kind: 'command', line, stays: comment.includes('leave it running'), exitCode, prints: [] };
}

function addPrinted(deeds: Deed[], content: string): void {
  for (const line of content.trimEnd().split('\n')) {
    if (line.startsWith('$ ')) {
      deeds.push(readCommand(line.slice(2)));
      continue;
    }
    const last = deeds.at(-1);
    if (last?.kind !== 'command') throw new Error(`There is no command that could print "${line}".`);
    if (line.trim() !== '' && line.trim() !== '…') last.prints.push(line);
  }
}

function readFile(content: string): WrittenFile {
  const name = /^(?:\/\/|#) ([\w./-]+\.\w+)/.exec(content)?.[1];
  if (name !== undefined) return { kind: 'file', name, content };
  throw new Error(`A file's first line must be a comment with its name:\n${content}`);
}

/** Returns the first expected line that was not printed in order, or undefined if all were. */
export function missingLine(expected: readonly string[], printed: string): string | undefined {
  const lines = printed.split('\n').map((line) => line.trim());
  let from = 0;
  return expected.find((line) => {
    const pattern = patternOf(line.trim());
    const at = lines.findIndex((each, index) => index >= from && pattern.test(each));
    from = at + 1;
    return at === -1;
  });
}

function patternOf(line: string): RegExp {
  const literal = line.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(
    `^${literal
      .replace(/…/g, '.*')
      .replace(/\bsolve-[\w-]+/g, String.raw`solve-[\w-]+`)
      .replace(/\d+/g, String.raw`\d+`)
      .replace(/\s+/g, String.raw`\s+`)}$`,
  );
}
