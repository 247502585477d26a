import { lazy, type ReactElement, Suspense, useDeferredValue, useState } from 'react';
import { showText } from './show-text';

const RenderedMarkdown = lazy(() => import('./markdown'));

/** Longest text rendered as Markdown: parsing longer ones would make the page unresponsive. */
const MOST_CHARACTERS = 60_000;
/** Longest text shown at once: a browser would take seconds to lay out more. */
const SHOWN_CHARACTERS = 200_000;

interface AnswerTextProps {
  readonly text: string;
  readonly isGrowing?: boolean;
}

/** A model's answer, rendered as Markdown or as plain text. */
export function AnswerText({ text, isGrowing = false }: AnswerTextProps): ReactElement {
  const [isRaw, setRaw] = useState(false);
  const shown = useDeferredValue(text);
  const isLong = shown.length > MOST_CHARACTERS;
  const plain = <pre dir="auto">{showText(shown.slice(0, SHOWN_CHARACTERS))}</pre>;
  return (
    <div className={isGrowing ? 'answer growing' : 'answer'} dir="auto">
      {isRaw || isLong ? (
        plain
      ) : (
        <Suspense fallback={plain}>
          <RenderedMarkdown text={showText(shown)} />
        </Suspense>
      )}
      {shown.length > SHOWN_CHARACTERS && (
        <p className="faint">
          {(shown.length - SHOWN_CHARACTERS).toLocaleString()} more characters: copy the answer to read them.
        </p>
      )}
      {!isGrowing && text !== '' && (
        <div className="tools">
          <Copy text={text} />
          {!isLong && (
            <button
              type="button"
              className="quiet"
              aria-pressed={isRaw}
              onClick={() => {
                setRaw(!isRaw);
              }}
            >
              Plain text
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Copy({ text }: { readonly text: string }): ReactElement {
  const [words, setWords] = useState('Copy');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setWords('Copied');
    } catch {
      setWords('Select it, then copy');
    }
  };
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      {words}
    </button>
  );
}
