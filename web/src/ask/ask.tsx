import { type ReactElement, type SubmitEvent, useEffect, useRef, useState } from 'react';
import type { Me } from '../api/types';
import { Problem } from '../parts/notice';
import { TrialNotice } from './trial-notice';
import { useTitle } from '../parts/title';
import { solveBodyOf, defaultChoices, findChoiceProblem, type Choices } from './choices';
import { AskOptions } from './options';
import { QuestionBox } from './question-box';
import { useAsking } from './use-asking';

const EXAMPLES = [
  'How many piano tuners are there in Chicago?',
  'Write a limerick about a queue that never drops a message.',
  'Compare three ways to store time series, and choose one.',
];

export function Ask({ me }: { readonly me: Me }): ReactElement {
  useTitle('Ask');
  const { send, renew, isPending, error } = useAsking();
  const box = useRef<HTMLTextAreaElement>(null);
  const [question, setQuestion] = useState('');
  const [choices, setChoices] = useState<Choices>(() => defaultChoices(me));
  useEffect(() => box.current?.focus(), []);

  const problem = findChoiceProblem(choices);
  const isReady = question.trim() !== '' && problem === null && !isPending;
  const ask = (event?: SubmitEvent): void => {
    event?.preventDefault();
    if (isReady) send(solveBodyOf(question.trim(), choices, me));
  };
  return (
    <main className="ask">
      <h1>What should the team work on?</h1>
      <form onSubmit={ask}>
        <QuestionBox
          ref={box}
          rows={3}
          label="Your question"
          placeholder="Ask anything. Enter sends, Shift+Enter starts a new line."
          value={question}
          onChange={(value) => {
            setQuestion(value);
            renew();
          }}
          onSend={ask}
        />
        <AskOptions
          me={me}
          choices={choices}
          onChange={(next) => {
            setChoices(next);
            renew();
          }}
        >
          <button className="primary" type="submit" disabled={!isReady}>
            {isPending ? 'Asking …' : 'Ask'}
          </button>
        </AskOptions>
      </form>
      {problem !== null && <Problem>{problem}</Problem>}
      {me.isTrial && <TrialNotice />}
      {error !== null && <Problem>The question was not asked: {error.message}</Problem>}
      {question === '' && (
        <section className="examples" aria-label="Examples">
          {EXAMPLES.map((example) => (
            <button
              key={example}
              type="button"
              onClick={() => {
                setQuestion(example);
                box.current?.focus();
              }}
            >
              {example}
            </button>
          ))}
        </section>
      )}
    </main>
  );
}
