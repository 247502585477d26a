import type { SolveTrace } from '../../protocol/solve';
import type { EventOf, RunEvent } from '../../trace/events';
import { expiredAnswer, ordinalsOf, toolCallId, toolEnded } from '../../trace/tool-events';
import { waitingCalls } from '../../trace/waiting-calls';

type TakenTurn = EventOf<'turn-taken'>;

/** Turns of a run with calls on which a person decides, and the deadline of each, as its history tells them. */
export class AskedTurns {
  private readonly undated: TakenTurn[] = [];
  private readonly byTimer = new Map<string, TakenTurn>();

  add(turn: TakenTurn): void {
    if (turn.asked.some(({ asks }) => asks)) this.undated.push(turn);
  }

  /** Takes the start of a timer, the deadline of the first turn that has none, and returns that its calls wait. */
  begin(timerId: string): RunEvent[] {
    const taken = this.undated.shift();
    if (taken === undefined) return [];
    this.byTimer.set(timerId, taken);
    const { round, step, worker, turn } = taken;
    return [{ kind: 'calls-asked', round, step, worker, turn, ordinals: ordinalsOf(taken.asked) }];
  }

  /** Returns the ends of the calls on which nobody decided before this timer fired. */
  expire(timerId: string, trace: SolveTrace, approvalMs: number, at: string): RunEvent[] {
    const turn = this.byTimer.get(timerId);
    if (turn === undefined) return [];
    const waiting = new Set(waitingCalls(trace).map(({ id }) => id));
    const places = ordinalsOf(turn.asked).map((ordinal) => ({ ...turn, ordinal }));
    return places
      .filter((place) => waiting.has(toolCallId(place)))
      .map((place) => toolEnded(place, expiredAnswer(approvalMs), at));
  }
}
