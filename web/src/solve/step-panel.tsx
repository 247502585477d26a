import type { ReactElement } from 'react';
import { describeDuration, describeUsd, isKept, joinFacts } from '../../../src/trace/describe';
import { callsOfStep } from '../../../src/trace/run-tree';
import { toolCallsOf } from '../../../src/trace/tool-calls';
import { type StepPlace, useLiveText } from '../api/live-texts';
import type { Step } from '../../../src/plan/plan';
import type { Round, Solve, StepResult } from '../api/types';
import { Fold } from '../parts/fold';
import { Problem } from '../parts/notice';
import { StateMark, wordOf } from '../parts/state-mark';
import { Tabs } from '../parts/tabs';
import { AnswerText } from './answer-text';
import { useShown } from './context';
import { Retry } from './retry';
import { SentPrompt } from './sent-prompt';
import { showText } from './show-text';
import { markOf } from './mark';
import { ToolCalls } from './tool-calls';
import { WholeText } from './whole-text';

/** Panel of one step: its output, its prompt, its calls, and those of tools. */
export function StepPanel({ place }: { readonly place: StepPlace }): ReactElement | null {
  const { solve, select } = useShown();
  const round = solve.rounds.find((each) => each.childId === place.childId && each.round === place.round);
  const [step, result] = [round?.plan?.steps[place.step], round?.steps[place.step]];
  if (round === undefined || step === undefined || result === undefined) return null;
  const calls = callsOfStep(solve.calls, round, result);
  const canRetry = solve.status !== 'running' && round.childId === null;
  return (
    <section className="step-panel" aria-label={`Step ${place.step + 1}`}>
      <header>
        <h2>
          Step {place.step + 1} · {result.worker}
        </h2>
        <button
          type="button"
          className="quiet"
          aria-label="Close the step"
          onClick={() => {
            select(null);
          }}
        >
          ✕
        </button>
      </header>
      <p className="faint">
        <StateMark state={markOf(solve, round, place.step)} /> {describeStep(solve, round, result)}
      </p>
      {result.error !== null && <Problem>{result.error.message}</Problem>}
      <Tabs
        label="Parts of the step"
        tabs={[
          ['Output', <Answered key="output" result={result} place={place} />],
          ['Prompt', <Asked key="prompt" step={step} place={place} />],
          [`Calls ${calls.length}`, <Calls key="calls" calls={calls} />],
          ...toolsOf(result),
        ]}
      />
      {canRetry && <Retry key={place.step} step={place.step} worker={step.worker} />}
    </section>
  );
}

/** The tab of a step that called tools; another has none. */
function toolsOf(result: StepResult): (readonly [name: string, content: ReactElement])[] {
  const count = toolCallsOf(result).length;
  return count === 0 ? [] : [[`Tools ${count}`, <ToolCalls key="tools" result={result} />]];
}

function describeStep(solve: Solve, round: Round, result: StepResult): string {
  const { model, fallbackFor, startedAt, endedAt } = result;
  return joinFacts(
    wordOf(markOf(solve, round, result.index)),
    model,
    fallbackFor !== null && `stood in for ${fallbackFor}`,
    isKept(result) && 'kept from an earlier run',
    startedAt !== null && endedAt !== null && describeDuration(startedAt, endedAt),
  );
}

function Asked({ step, place }: { readonly step: Step; readonly place: StepPlace }): ReactElement {
  const { select } = useShown();
  return (
    <>
      <p className="prompt" dir="auto">
        {showText(step.subtask)}
      </p>
      {step.sees.length > 0 && (
        <p className="sees">
          Saw the output of{' '}
          {step.sees.map((seen) => (
            <button
              key={seen}
              type="button"
              className="quiet"
              onClick={() => {
                select({ ...place, step: seen });
              }}
            >
              step {seen + 1}
            </button>
          ))}
        </p>
      )}
      <h3>As it was sent</h3>
      <SentPrompt place={place} />
    </>
  );
}

/** What the model thought before its answer, if its server does not keep that apart. */
function Thoughts({
  thoughts,
  place,
}: {
  readonly thoughts: string | undefined;
  readonly place: StepPlace;
}): ReactElement | null {
  const live = useShown();
  const growing = useLiveText(live.thoughts, place);
  const text = thoughts ?? growing;
  return text.trim() === '' ? null : (
    <Fold summary="Thoughts">
      <WholeText label="Thoughts" text={text.trim()} />
    </Fold>
  );
}

function Answered({
  result: { output, thoughts },
  place,
}: {
  readonly result: StepResult;
  readonly place: StepPlace;
}): ReactElement {
  const { texts } = useShown();
  const growing = useLiveText(texts, place);
  const text = output ?? growing;
  return (
    <>
      <Thoughts thoughts={thoughts} place={place} />
      {text === '' ? (
        <p className="faint">No output.</p>
      ) : (
        <AnswerText text={text} isGrowing={output === null} />
      )}
    </>
  );
}

function Calls({ calls }: { readonly calls: Solve['calls'] }): ReactElement {
  if (calls.length === 0) return <p className="faint">No calls.</p>;
  return (
    <div className="scroll">
      <table className="calls">
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">In</th>
            <th scope="col">Out</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {calls.map(({ callId, attempt, model, usage, nanoUsd, error }) => (
            <tr key={`${callId} ${attempt}`}>
              <th scope="row">
                {model}
                {attempt > 1 && `, attempt ${attempt}`}
                {error !== null && <span className="reason">{error.message}</span>}
              </th>
              <td>{usage?.inputTokens.toLocaleString() ?? '–'}</td>
              <td>{usage?.outputTokens.toLocaleString() ?? '–'}</td>
              <td>{nanoUsd === null ? 'unknown' : describeUsd(nanoUsd / 1e9)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
