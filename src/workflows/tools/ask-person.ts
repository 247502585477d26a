import type { ToolAddress } from '../../trace/events';
import { toolCallId } from '../../trace/tool-events';
import type { RunContext } from '../run-context';
import type { CallVerdict } from './call-approval';

/** What a person decided about the calls of a turn, by their ordinals; null: nothing, in time. */
export type Verdicts = ReadonlyMap<number, CallVerdict | null>;

/** Asks a person about calls of a turn, by their ordinals, before any of them is made. */
export async function askPerson(
  { callApproval, limits, recorder }: RunContext,
  turn: Omit<ToolAddress, 'ordinal'>,
  ordinals: readonly number[],
): Promise<Verdicts> {
  recorder.record({ kind: 'calls-asked', ...turn, ordinals });
  const ids = ordinals.map((ordinal) => toolCallId({ ...turn, ordinal }));
  const verdicts = await callApproval.ask(ids, limits);
  return new Map(ordinals.map((ordinal, index) => [ordinal, verdicts[index] ?? null]));
}
