import { type Fence, fencesOf } from './pages';

/**
 * What a newcomer does with a document, in the order in which it stands there. A fenced block takes part where the word
 * `newcomer` follows its language; a page shows no more than the language's colours of that:
 *
 * - `yaml`, `ts`, `json` and so on: a file. Its first line is a comment that begins with its name: `// worker.ts: …`.
 * - `sh`: a command a line, all in one shell. A backslash at the end continues it. `# leave it running` in its comment
 *   has it run beside what follows, and `# exit code 3` says how it ends; else it must end with 0.
 * - `text`: what the command before it prints; or, after a line that begins with `$ `, what that command prints. The
 *   lines must come in this order, and others may stand between them. `…` stands for anything, a number for any number,
 *   and the id of a run for that of any run.
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

/** @throws Error that quotes a block which says neither file nor command */
export function readDeeds(document: string): Deed[] {
  const deeds: Deed[] = [];
  for (const { language, content } of fencesOf(document).filter(({ isPlayed }) => isPlayed)) {
    if (language === 'sh') deeds.push(...commandsIn(content));
    else if (language === 'text') addPrinted(deeds, content);
    else deeds.push(readFile(content));
  }
  return deeds;
}

/** The commands of a block of `sh`, or of one of `text` that shows what they print. */
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

/** The first of the expected lines that was not printed in its turn; undefined where all were. */
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
