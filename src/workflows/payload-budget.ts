import { condition } from '@temporalio/workflow';
import { jsonBytes } from '../plan/plan';
import type { Background } from '../protocol/input';
import { KEEP_TEXT } from '../protocol/names';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { storeActivities } from './activities';
import { isOwnCancellation } from './failures';

/**
 * Bytes of JSON that shown texts may take inline, all together. Beyond this they travel by reference: otherwise, what
 * starts in one workflow task (4 MB) would grow with the square of the steps.
 */
const SHOWN_INLINE_BYTES = 256 * 1024;

/** Bytes below which a text stays inline, since a reference takes about as much. */
const WORTH_A_REFERENCE = 256;

/** Bytes of child inputs that one workflow task may start with: each input holds the whole pool. */
const STARTING_BYTES = 1_000_000;

/** Keeps the payloads of one solve within Temporal's limits. Stores each text once. */
export class PayloadBudget {
  private shown = 0;
  private starting = 0;
  private readonly kept = new Map<string, Promise<Text>>();

  /** @param storeId store in which the run began */
  constructor(private readonly storeId: string | undefined) {}

  /** Whether these texts may travel inline; if so, they count towards the budget. */
  takesInline(texts: readonly Background[]): boolean {
    const shown = this.shown + jsonBytes(texts);
    if (shown > SHOWN_INLINE_BYTES) return false;
    this.shown = shown;
    return true;
  }

  /** Stores long texts and replaces them by references; short ones stay inline. */
  byReference<Shown extends Background>(texts: readonly Shown[]): Promise<Shown[]> {
    return Promise.all(
      texts.map(async (each) => {
        const [subtask, output] = await Promise.all([this.keep(each.subtask ?? ''), this.keep(each.output)]);
        return { ...each, ...(each.subtask !== null && { subtask }), output };
      }),
    );
  }

  /** Starts a child once there is room. When the server confirms an earlier start, another workflow task begins. */
  async start<Child>(bytes: number, begin: () => Promise<Child>): Promise<Child> {
    const hasRoom = (): boolean => this.starting === 0 || this.starting + bytes <= STARTING_BYTES;
    // Checks again, since another child may have taken the room.
    while (!hasRoom()) await condition(hasRoom);
    this.starting += bytes;
    try {
      return await begin();
    } finally {
      this.starting -= bytes;
    }
  }

  private keep(text: Text): Text | Promise<Text> {
    if (typeof text !== 'string' || jsonBytes(text) <= WORTH_A_REFERENCE) return text;
    const kept = this.kept.get(text) ?? keepOrShow(text, this.storeId);
    this.kept.set(text, kept);
    return kept;
  }
}

/** Stores a text. If that fails, it travels inline, which may still work. */
async function keepOrShow(text: string, storeId: string | undefined): Promise<Text> {
  try {
    return await storeActivities('keep a text that many steps see')[KEEP_TEXT](text, 0, storeId);
  } catch (error) {
    if (isOwnCancellation(error)) throw error;
    return text;
  }
}

/** Temporal takes payloads up to 2 MB: with a longer result, a run would never end. */
const MAX_RESULT_BYTES = 1_900_000;
const CLIPPED_CHARACTERS = 200;
/** There may be more calls of tools than of models. */
const CLIPPED_CALL_CHARACTERS = 100;

/** Shortens a trace that is too long for a result: first children's texts, then all. Histories keep them whole. */
export function fitResult(trace: SolveTrace): SolveTrace {
  if (jsonBytes(trace) <= MAX_RESULT_BYTES) return trace;
  const fitted = clipRounds(trace, ({ childId }) => childId !== null);
  return jsonBytes(fitted) <= MAX_RESULT_BYTES ? fitted : clipRounds(trace, () => true);
}

type Turn = NonNullable<StepTrace['turns']>[number];

function clipRounds(trace: SolveTrace, isClipped: (round: RoundTrace) => boolean): SolveTrace {
  const clip = (text: string, most = CLIPPED_CHARACTERS): string =>
    text.length <= most ? text : `${text.slice(0, most)}…`;
  const clipText = <Of extends Text | null>(text: Of, most?: number): Of | string =>
    typeof text === 'string' ? clip(text, most) : text;
  const clipTurn = ({ calls, ...turn }: Turn): Turn => ({
    ...turn,
    calls: calls.map((call) => ({
      ...call,
      arguments: clipText(call.arguments, CLIPPED_CALL_CHARACTERS),
      output: clipText(call.output, CLIPPED_CALL_CHARACTERS),
    })),
  });
  const rounds = trace.rounds.map((round) => {
    if (!isClipped(round)) return round;
    const steps = round.steps.map(({ thoughts, turns, ...step }) => ({
      ...step,
      output: clipText(step.output),
      ...(turns !== undefined && { turns: turns.map(clipTurn) }),
      ...(thoughts !== undefined && { thoughts: typeof thoughts === 'string' ? clip(thoughts) : thoughts }),
    }));
    const planned = round.plan?.steps.map((step) => ({ ...step, subtask: clip(step.subtask) }));
    return { ...round, steps, plan: planned ? { steps: planned } : null, answer: clipText(round.answer) };
  });
  return { ...trace, rounds };
}
