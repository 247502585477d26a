import type { ReactElement } from 'react';
import { showText } from './show-text';

/** Longest text shown at once: a browser would take seconds to lay out more. */
const SHOWN_CHARACTERS = 100_000;

/** A prompt or a reply as plain text, not rendered. */
export function WholeText({ label, text }: { readonly label: string; readonly text: string }): ReactElement {
  return (
    <pre className="sent" dir="auto" aria-label={label} role="group" tabIndex={0}>
      {showText(text.slice(0, SHOWN_CHARACTERS))}
      {text.length > SHOWN_CHARACTERS && ` … ${text.length - SHOWN_CHARACTERS} more characters`}
    </pre>
  );
}
