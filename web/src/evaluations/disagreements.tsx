import type { ReactElement } from 'react';
import type { Disagreements as Found, Side } from '../../../src/evaluation/report/disagreements';
import { Verdicts } from '../learning/verdicts';
import { Link } from '../parts/link';
import { PlanSteps } from '../parts/plan-steps';
import { pathOfSolve } from '../route';
import { showText } from '../solve/show-text';

/** Questions on which only one of two methods was right, with both answers side by side. */
export function Disagreements({ found }: { readonly found: Found }): ReactElement {
  const { methods, won, lost, shown } = found;
  const [one, other] = methods;
  return (
    <section className="card" aria-label="Disagreements">
      <h2>
        Where {one} and {other} disagree
      </h2>
      <p className="faint">
        {shown.length === 0
          ? 'Nowhere: both are right and wrong on the same questions.'
          : `Only ${one} was right on ${won}, only ${other} on ${lost}.${shown.length < won + lost ? ` ${shown.length} of them:` : ''}`}
      </p>
      {shown.map(({ id, question, right, sides }) => (
        <article key={id} className="group" aria-label={`Question ${id}`}>
          <h3>{id}</h3>
          <p className="asked" dir="auto">
            {showText(question)}
          </p>
          {right !== null && (
            <p className="faint" dir="auto">
              Right: {showText(right)}
            </p>
          )}
          <div className="folds pair">
            {sides.map((side) => (
              <AnswerOf key={side.method} side={side} />
            ))}
          </div>
        </article>
      ))}
    </section>
  );
}

function AnswerOf({
  side: { method, verdict, reason, plan, answer, runs },
}: {
  readonly side: Side;
}): ReactElement {
  return (
    <div className="fold">
      <p className="line spread">
        <strong>{method}</strong>
        <Verdicts verdicts={[verdict]} />
      </p>
      {plan !== null && plan.steps.length > 0 && (
        <details>
          <summary>Its plan</summary>
          <PlanSteps plan={plan} />
        </details>
      )}
      <p className="answer-text" dir="auto">
        {answer === null ? <span className="faint">no answer</span> : showText(answer)}
      </p>
      {reason !== '' && <p className="faint">{showText(reason)}</p>}
      {runs.length > 0 && (
        <p className="line">
          {runs.map((run, index) => (
            <Link key={run} href={pathOfSolve(run)}>
              {runs.length === 1 ? 'Its solve' : `Solve ${index + 1}`}
            </Link>
          ))}
        </p>
      )}
    </div>
  );
}
