import type { ReactElement } from 'react';
import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import type { Step } from '../../../src/plan/plan';
import { describeDuration, joinFacts } from '../../../src/trace/describe';
import { callsOfStep } from '../../../src/trace/run-tree';
import { isUnderWay, type PlacedCall, toolCallsOf } from '../../../src/trace/tool-calls';
import { type StepPlace, useLiveText } from '../api/live-texts';
import type { Round, Solve, StepResult } from '../api/types';
import { useNow } from '../parts/now';
import { StateMark } from '../parts/state-mark';
import { isSamePlace, useShown } from './context';
import type { Direction } from './layout';
import { markOf, priceOf } from './mark';
import { showText } from './show-text';
import { ToolMark } from './tool-calls';

export interface StepData extends Record<string, unknown> {
  readonly step: Step;
  readonly index: number;
  readonly round: Round;
  readonly direction: Direction;
  /** Given if the plan is being edited. */
  readonly draft: Draft | null;
}

/** A plan that is being edited, one step at a time. */
export interface Draft {
  readonly chosen: number;
  readonly onChoose: (step: number) => void;
  /** Lets a step see an earlier one, or stops it from seeing it. */
  readonly onToggle: (step: number, seen: number) => void;
}

/** Node of a plan's step: its worker, its subtask and its progress. Its size never changes. */
export function StepNode({ data }: NodeProps<Node<StepData>>): ReactElement {
  const { step, index, round, direction, draft } = data;
  const isDraft = draft !== null;
  const { solve, selected, select } = useShown();
  const place = { childId: round.childId, round: round.round, step: index };
  const calls = toolCallsIn(data);
  const text = useLastWords(place, calls);
  const state = isDraft ? 'waiting' : markOf(solve, round, index);
  const isSelected = draft === null ? isSamePlace(selected, place) : draft.chosen === index;
  const worker = isDraft ? step.worker : (round.steps[index]?.worker ?? step.worker);
  const [before, behind] =
    direction === 'LR' ? [Position.Left, Position.Right] : [Position.Top, Position.Bottom];
  return (
    <>
      <Handle type="target" position={before} isConnectable={isDraft} />
      <button
        type="button"
        className={`step step-${state}`}
        aria-pressed={isSelected}
        onClick={() => {
          if (draft === null) select(isSelected ? null : place);
          else draft.onChoose(index);
        }}
      >
        <span className="step-head">
          <StateMark state={state} />
          <span className="number">{index + 1}</span>
          <span className="worker">{worker}</span>
          <ToolMark count={calls.length} />
        </span>
        <span className="subtask" dir="auto">
          {showText(step.subtask)}
        </span>
        <span className="step-foot">
          {state === 'running' && text !== '' ? (
            <bdi className="tail">{showText(text)}</bdi>
          ) : (
            !isDraft && <Facts round={round} index={index} />
          )}
        </span>
      </button>
      <Handle type="source" position={behind} isConnectable={isDraft} />
    </>
  );
}

function toolCallsIn({ round, index, draft }: StepData): readonly PlacedCall[] {
  return draft === null ? toolCallsOf(round.steps[index] ?? {}) : [];
}

/** Returns what a step does: the tool that it calls, or the last words of its text or, before that, of its thoughts. */
function useLastWords(place: StepPlace, calls: readonly PlacedCall[]): string {
  const { texts, thoughts } = useShown();
  const written = useLiveText(texts, place).slice(-60);
  const thought = useLiveText(thoughts, place).slice(-60);
  const called = calls.find(isUnderWay);
  if (called !== undefined) return `calls ${called.name}`;
  return written === '' && thought !== '' ? `thinks: ${thought}` : written;
}

function Facts({ round, index }: Pick<StepData, 'round' | 'index'>): ReactElement | null {
  const { solve } = useShown();
  const result = round.steps[index];
  const isRunning = markOf(solve, round, index) === 'running';
  const now = useNow(1000, isRunning);
  if (result === undefined) return null;
  const calls = callsOfStep(solve.calls, round, result);
  return (
    <>{joinFacts(describeTime(result, isRunning, now), priceOf(calls), describeAttempts(calls, result))}</>
  );
}

function describeTime({ startedAt, endedAt }: StepResult, isRunning: boolean, now: number): string | null {
  if (startedAt === null || (endedAt === null && !isRunning)) return null;
  return describeDuration(startedAt, endedAt, new Date(now).toISOString());
}

/** Says how often a step was tried; why it failed stands below the plan, where there is room for it. */
function describeAttempts(calls: Solve['calls'], { error }: StepResult): string | null {
  if (error !== null) return null;
  const failures = calls.filter((call) => call.error !== null).length;
  return failures === 0 ? null : `tried ${failures + 1} times`;
}
