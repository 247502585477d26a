import { type ReactElement, useMemo } from 'react';
import { type Change, diffLines, diffWordsWithSpace } from 'diff';
import { Fold } from '../parts/fold';
import { showText } from './show-text';

interface AnswerChangesProps {
  readonly one: string;
  readonly other: string;
}

/** Longest answers, together, that are compared word by word; longer ones are compared line by line. */
const MOST_CHARACTERS = 20_000;
/** Time for a comparison: the number of changes that are tried grows with the square of what differs. */
const PATIENCE_MS = 500;

/** How the second answer differs from the first. */
export default function AnswerChanges({ one, other }: AnswerChangesProps): ReactElement {
  if (one === other) return <p className="faint">The answers are the same, letter by letter.</p>;
  return (
    <Fold summary="How the answers differ">
      <Changes one={one} other={other} />
    </Fold>
  );
}

function Changes({ one, other }: AnswerChangesProps): ReactElement {
  const changes = useMemo(() => changesBetween(one, other), [one, other]);
  if (changes === undefined)
    return <p className="faint">The answers differ too much to show their changes.</p>;
  return (
    <pre className="changes" dir="auto">
      {changes.map(({ value, added, removed }, index) => {
        const text = showText(value);
        if (added) return <ins key={index}>{text}</ins>;
        return removed ? <del key={index}>{text}</del> : <span key={index}>{text}</span>;
      })}
    </pre>
  );
}

function changesBetween(one: string, other: string): readonly Change[] | undefined {
  const options = { timeout: PATIENCE_MS };
  return one.length + other.length > MOST_CHARACTERS
    ? diffLines(one, other, options)
    : diffWordsWithSpace(one, other, options);
}
