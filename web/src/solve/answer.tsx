import type { ReactElement } from 'react';
import { answeringPlace } from './answering';
import { AnswerText } from './answer-text';
import { useLiveText } from '../api/live-texts';
import { useShown } from './context';

/** The answer, as far as it has been written. */
export function Answer(): ReactElement {
  const { solve, texts } = useShown();
  const growing = useLiveText(texts, answeringPlace(solve));
  const isRunning = solve.status === 'running';
  const text = solve.answer ?? (isRunning ? growing : '');
  const nothing = isRunning ? 'The last step writes it.' : 'No answer.';
  return (
    <section className="answer-card" aria-label="Answer">
      <h2>Answer</h2>
      {text === '' && <p className="faint">{nothing}</p>}
      {text !== '' && <AnswerText text={text} isGrowing={solve.answer === null} />}
    </section>
  );
}
