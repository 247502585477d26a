import type { SolveTrace, StepTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';

/** A call of a tool on which a person decides, or that the caller carries out. */
export interface WaitingCall {
  /** Run that waits: the trace's own, or one below it. */
  readonly run: string;
  readonly id: string;
  readonly name: string;
  /** JSON; whole in a trace with whole texts. */
  readonly arguments: Text;
}

type ToolCall = NonNullable<StepTrace['turns']>[number]['calls'][number];
type Tree = Pick<SolveTrace, 'id' | 'rounds'>;

/** Returns the calls of a trace, runs below included, on which nobody has decided yet. */
export function waitingCalls(trace: Tree): WaitingCall[] {
  return openCalls(trace, ({ approval }) => (approval?.decision === null ? approval.id : undefined));
}

/** Returns the calls of a trace, runs below included, of which the caller has given no result yet. */
export function callsOfCaller(trace: Tree): WaitingCall[] {
  return openCalls(trace, ({ callerId }) => callerId);
}

/** Returns for whom the calls of a run wait; undefined: for nobody. A person comes first, who may not know of it. */
export function waitOfCalls(trace: Tree): 'approval' | 'caller' | undefined {
  if (waitingCalls(trace).length > 0) return 'approval';
  return callsOfCaller(trace).length > 0 ? 'caller' : undefined;
}

function openCalls({ id: root, rounds }: Tree, idOf: (call: ToolCall) => string | undefined): WaitingCall[] {
  return rounds.flatMap(({ childId, steps }) =>
    steps
      .flatMap(({ turns = [] }) => turns.flatMap(({ calls }) => calls))
      .flatMap((call) => {
        const id = call.outcome === null ? idOf(call) : undefined;
        return id === undefined
          ? []
          : [{ run: childId ?? root, id, name: call.name, arguments: call.arguments }];
      }),
  );
}
