import { workflowInfo } from '@temporalio/workflow';
import type { Background } from '../../protocol/parent';
import type { Text } from '../../protocol/text';
import type { GroupInput, GroupPart } from '../../training/train-input';
import { emptyTrace } from '../../trace/apply-event';
import { Approval } from '../approval';
import type { Limits } from '../limits';
import { Recorder } from '../recorder';
import type { RunContext } from '../run-context';
import { Steering } from '../steering';
import type { Stopwatch } from './stopwatch';

/** What every rollout of a group shares. */
export interface GroupContext {
  readonly input: GroupInput;
  /** Of the whole group: what one rollout leaves is there for the next. */
  readonly limits: Limits;
  readonly question: { readonly id: string; readonly text: Text };
  readonly watch: Stopwatch<GroupPart>;
}

/**
 * A rollout as a run of its own, so that it is carried out by the very code that carries out a solve.
 *
 * @param rollout its place in the group, or of the first-round rollout that it reviews
 * @param background what everybody in it may see
 */
export function rolloutContext(
  { input, limits, question }: GroupContext,
  rollout: number,
  round: 0 | 1,
  background: readonly Background[] = [],
): RunContext {
  const { trainRun, purpose, cycle, draw, run } = input;
  const { workflowId, runId } = workflowInfo();
  const trace = emptyTrace({ id: `${workflowId}/${rollout}`, runId, question: question.text });
  return {
    input: { question: question.text },
    question: question.text,
    run: { ...run, recursion: 'never' },
    limits,
    steering: new Steering(),
    approval: new Approval(),
    recorder: new Recorder(trace, () => undefined),
    depth: 0,
    rootId: workflowId,
    round,
    background,
    rollout: { trainRun, purpose, cycle, question: question.id, draw, rollout },
  };
}
