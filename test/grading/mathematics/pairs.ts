import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { grade } from '../../../src/grading';

/** A right answer, a reply, and whether the reply is right. */
export interface Pair {
  readonly kind: string;
  readonly right: string;
  readonly answer: string;
  readonly isRight: boolean;
}

/** Reads our own pairs from `pairs.txt`: `right  ==  answer`, or `!=` for one that must not pass, below their kind. */
export function readPairs(): readonly Pair[] {
  let kind = '';
  return readFileSync(join(__dirname, 'pairs.txt'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('# ')) kind = line.slice(2);
      const [, right, sign, answer] = /^(.+?) {2}(==|!=) {2}(.+)$/.exec(line) ?? [];
      if (right === undefined || answer === undefined) return [];
      return [{ kind, right, answer, isRight: sign === '==' }];
    });
}

/** Grades all pairs, and describes those that are misjudged. */
export async function misjudged(): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const { kind, right, answer, isRight } of readPairs()) {
    const { verdict, reason } = await grade({ grader: 'math', answer: right }, answer);
    if (verdict === (isRight ? 'correct' : 'wrong')) continue;
    failed.push(`${kind}: ${right} ${isRight ? '==' : '!='} ${answer}: ${verdict}, ${reason}`);
  }
  return failed;
}
