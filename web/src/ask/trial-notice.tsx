import type { ReactElement } from 'react';

/** Says that only the built-in small model answers, so that nobody takes its answers for the team's. */
export function TrialNotice(): ReactElement {
  return (
    <p className="trial">
      Without a vendor’s key, a very small model answers here. It shows how a solve works; its answers are
      weak and often wrong. Set <code>OPENAI_API_KEY</code>, <code>ANTHROPIC_API_KEY</code> or{' '}
      <code>GEMINI_API_KEY</code>, or write a <code>conductor.yaml</code> with{' '}
      <code>npx temporal-conductor init</code>, and start again.
    </p>
  );
}
