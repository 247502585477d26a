import type { ReactElement } from 'react';
import { answeringPlace } from './answering';
import { AnswerText } from './answer-text';
import { useLiveText } from '../api/live-texts';
import { useShown } from './context';

/** The answer, as far as it has been written; nothing before its first word. */
export function Answer(): ReactElement | null {
  const { solve, which, texts } = useShown();
  const growing = useLiveText(texts, answeringPlace(solve));
  const isRunning = solve.status === 'running';
  const text = solve.answer ?? (isRunning ? growing : '');
  if (text === '') return null;
  return (
    <section className="answer-card" aria-label={`Answer${which}`}>
      <h2>Answer</h2>
      <AnswerText text={text} isGrowing={solve.answer === null} />
    </section>
  );
}
