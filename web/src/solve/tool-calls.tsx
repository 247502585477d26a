import type { ReactElement } from 'react';
import { counted } from '../../../src/trace/describe';
import { asksPerson, describeOutcome, isUnderWay } from '../../../src/trace/tool-calls';
import type { StepResult } from '../api/types';
import { Fold } from '../parts/fold';
import { type MarkedState, StateMark } from '../parts/state-mark';
import { useShown } from './context';
import { showText } from './show-text';
import { WholeText } from './whole-text';

type Turn = NonNullable<StepResult['turns']>[number];
type ToolCall = Turn['calls'][number];

/** The turns of a step in which its models called tools: each call, and what came of it. */
export function ToolCalls({ result }: { readonly result: StepResult }): ReactElement {
  const { turns = [], worker } = result;
  return (
    <>
      {turns.map((turn, index) => (
        <section key={index} className="tool-turn">
          <h3>
            Turn {turn.turn + 1}
            {turn.worker !== worker && ` of ${turn.worker}`}
          </h3>
          {turn.calls.map((call, ordinal) => (
            <ToolCallCard key={ordinal} call={call} />
          ))}
        </section>
      ))}
    </>
  );
}

function ToolCallCard({ call }: { readonly call: ToolCall }): ReactElement {
  const { solve } = useShown();
  const { name, arguments: given, output } = call;
  const isShort = given.length <= SHORT;
  return (
    <article className="tool-call">
      <p>
        <StateMark state={markOfCall(call, solve.status === 'running')} />{' '}
        <code dir="auto">{showText(isShort ? `${name} ${given}` : name)}</code>{' '}
        <span className="faint">{describeOutcome(call)}</span>
      </p>
      {!isShort && <Written what="Arguments" text={given} />}
      {output !== null && <Written what="Result" text={output} />}
    </article>
  );
}

/** Longest text that is shown at once. */
const SHORT = 400;

function Written({ what, text }: { readonly what: string; readonly text: string }): ReactElement {
  const whole = <WholeText label={what} text={text} />;
  if (text.length <= SHORT) return whole;
  return <Fold summary={`${what}, ${text.length.toLocaleString()} characters`}>{whole}</Fold>;
}

function markOfCall(call: ToolCall, isRunning: boolean): MarkedState {
  if (isUnderWay(call)) return isRunning ? 'running' : 'cancelled';
  if (call.outcome === null) return isRunning && asksPerson(call) ? 'asks' : 'waiting';
  return call.outcome === 'ok' ? 'done' : 'failed';
}

/** Mark of a step that called tools, with their number; nothing for one that called none. */
export function ToolMark({ count }: { readonly count: number }): ReactElement | null {
  if (count === 0) return null;
  const label = counted(count, 'tool call');
  return (
    <span className="tool-mark" role="img" aria-label={label} title={label}>
      <svg viewBox="0 0 14 14" width="12" height="12" aria-hidden="true">
        <path d="M8.2 5.8 2.6 11.4M12 3.6 9.9 5.6 8.4 4.1 10.4 2A3.2 3.2 0 1 0 12 3.6Z" />
      </svg>
      {count}
    </span>
  );
}
