import { type ReactElement, type SubmitEvent, useState } from 'react';
import { counted } from '../../../src/trace/describe';
import { useTurns } from '../api/queries';
import type { Turn } from '../api/types';
import { QuestionBox } from '../ask/question-box';
import { useAsking } from '../ask/use-asking';
import { Fold } from '../parts/fold';
import { Problem } from '../parts/notice';
import { AnswerText } from './answer-text';
import { useShown } from './context';

const SPEAKERS: Readonly<Record<Turn['role'], string>> = {
  system: 'Instructions',
  user: 'You',
  assistant: 'The team',
};

/** Turns before the question, folded. */
export function EarlierTurns(): ReactElement | null {
  const { solve } = useShown();
  const { data: turns = [] } = useTurns(solve.id);
  const earlier = turns.slice(0, -1);
  if (earlier.length === 0) return null;
  return (
    <Fold className="earlier" summary={`Earlier conversation: ${counted(earlier.length, 'turn')}`}>
      {earlier.map(({ role, content }, index) => (
        <section key={index} aria-label={SPEAKERS[role]}>
          <h2>{SPEAKERS[role]}</h2>
          <AnswerText text={content} />
        </section>
      ))}
    </Fold>
  );
}

/** Form for the next question of the conversation, once this solve has an answer. */
export function FollowUp(): ReactElement | null {
  const { solve } = useShown();
  const { send, renew, isPending, error } = useAsking();
  const [question, setQuestion] = useState('');
  if (solve.status === 'running' || solve.answer === null) return null;
  const isReady = question.trim() !== '' && !isPending;
  const ask = (event?: SubmitEvent): void => {
    event?.preventDefault();
    if (isReady) send({ question: question.trim(), after: solve.id, model: 'conductor' });
  };
  return (
    <form className="follow-up" onSubmit={ask}>
      <QuestionBox
        rows={2}
        label="The next question"
        placeholder="Continue from this answer"
        value={question}
        onChange={(value) => {
          setQuestion(value);
          renew();
        }}
        onSend={ask}
      />
      <button type="submit" disabled={!isReady}>
        {isPending ? 'Asking …' : 'Ask a follow-up'}
      </button>
      {error !== null && <Problem>The question was not asked: {error.message}</Problem>}
    </form>
  );
}
