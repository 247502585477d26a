import type { SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';

/** A call of a tool on which a person decides. */
export interface WaitingCall {
  /** Run that takes the decision: the trace's own, or one below it. */
  readonly run: string;
  readonly id: string;
  readonly name: string;
  /** JSON; whole in a trace with whole texts. */
  readonly arguments: Text;
}

/** Returns the calls of a trace, runs below included, on which nobody has decided yet. */
export function waitingCalls({ id: root, rounds }: Pick<SolveTrace, 'id' | 'rounds'>): WaitingCall[] {
  return rounds.flatMap(({ childId, steps }) =>
    steps
      .flatMap(({ turns = [] }) => turns.flatMap(({ calls }) => calls))
      .flatMap(({ name, arguments: args, approval, outcome }) =>
        approval?.decision === null && outcome === null
          ? [{ run: childId ?? root, id: approval.id, name, arguments: args }]
          : [],
      ),
  );
}
