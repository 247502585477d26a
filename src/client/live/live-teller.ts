import type { SolveResult } from '../../protocol/solve';
import type { LiveText } from '../../store/stream-log';
import { isCallOf } from '../../trace/run-tree';
import { callsOfCaller } from '../../trace/waiting-calls';
import type { Retry } from '../pending-call';
import type { CallerCall } from '../tools/caller-calls';
import type { LiveHappening, LiveEvent, RoundPlace, StepPlace } from './live-events';
import {
  isBeginningOf,
  isLaterTurn,
  isTooLate,
  isVoidBy,
  loggedOf,
  pieceOf,
  restOf,
  tailOf,
  type TextPiece,
} from './text-pieces';
import { toolNewsOf, withNews } from './tool-news';
import {
  cursorOf,
  NO_REPLY,
  NOTHING_TOLD,
  readCursor,
  type ToldReply,
  type ToldState,
  type ToldStep,
} from './told-state';

type Round = SolveResult['rounds'][number];
type Step = Round['steps'][number];

type TextPlace = StepPlace & { readonly provisional?: true };

/**
 * Emits each event of a run once, from its trace and the texts of its stream log; a caller that resumes from a cursor
 * gets the rest. When a step ends, the part of its output that the log did not deliver is emitted.
 */
export class LiveTeller {
  private readonly told: ToldState;
  private texts: readonly LiveText[] = [];
  private mayBeReviewed: (depth: number) => boolean = () => false;
  /** null until the first poll. */
  private retries: readonly Retry[] | null = null;
  private held: readonly string[] = [];

  constructor(
    private readonly rootId: string,
    after?: string,
  ) {
    this.told = after === undefined ? structuredClone(NOTHING_TOLD) : readCursor(after);
  }

  get isOver(): boolean {
    return this.told.isOver;
  }

  /** @param mayBeReviewed whether an answer at this depth may be reviewed */
  expectReviews(mayBeReviewed: (depth: number) => boolean): void {
    this.mayBeReviewed = mayBeReviewed;
  }

  /**
   * @param retries calls that now wait for a retry; null: not known yet
   * @param held ids of runs whose limits hold a step back
   */
  expectWaits(retries: readonly Retry[] | null, held: readonly string[]): void {
    this.retries = retries;
    this.held = held;
  }

  /** Takes new texts of the log; texts of steps that have not started in the trace are kept until they do. */
  add(texts: readonly LiveText[]): void {
    const inOrder = (a: LiveText, b: LiveText): number =>
      a.startedAt.localeCompare(b.startedAt) || a.attempt - b.attempt || a.offset - b.offset;
    this.texts = [...this.texts, ...texts].sort(inOrder);
  }

  *tell(trace: SolveResult): Generator<LiveEvent> {
    for (const round of trace.rounds) yield* this.tellRound(trace, round);
    yield* this.tellWaits(trace);
    yield* this.tellCallerCalls(trace);
    const { status, answer, answerCut, degraded, stoppedBy, error } = trace;
    if (status === 'running' || this.told.isOver) return;
    this.told.isOver = true;
    const cut = answerCut && { answerCut };
    yield this.event({ kind: 'ended', status, answer, ...cut, degraded, stoppedBy, error });
  }

  private *tellWaits({ waitsFor }: SolveResult): Generator<LiveEvent> {
    const waits = new Map<string, LiveHappening>();
    if (waitsFor === 'approval') waits.set(waitsFor, { kind: 'waiting', for: waitsFor });
    for (const id of this.held) {
      const childId = id === this.rootId ? null : id;
      waits.set(`limit ${id}`, { kind: 'waiting', for: 'limit', childId });
    }
    for (const { attempt, reason, rate } of this.retries ?? []) {
      if (rate === undefined) continue;
      const { call, ...where } = rate;
      waits.set(`${where.childId} ${call} ${attempt}`, { kind: 'waiting', for: 'rate', reason, ...where });
    }
    const isUnknown = (name: string): boolean => this.retries === null && name !== 'approval';
    this.told.waits = this.told.waits.filter((name) => waits.has(name) || isUnknown(name));
    for (const [name, event] of waits) {
      if (this.told.waits.includes(name)) continue;
      this.told.waits.push(name);
      yield this.event(event);
    }
  }

  private *tellCallerCalls(trace: SolveResult): Generator<LiveEvent> {
    const open = trace.status === 'running' ? callsOfCaller(trace) : [];
    // The texts of a result are whole.
    const calls = open.filter(({ id }) => !this.told.callerCalls.includes(id)) as CallerCall[];
    this.told.callerCalls = open.map(({ id }) => id);
    if (calls.length > 0) yield this.event({ kind: 'callsWaiting', calls });
  }

  private *tellRound(trace: SolveResult, round: Round): Generator<LiveEvent> {
    const { childId, depth, plan, steps, decision } = round;
    const place = { childId, round: round.round };
    const name = placeKey(place);
    // What comes after the plan is known adds nothing to it.
    const written = this.take({ ...place, step: null });
    if (plan === null) {
      yield* this.tellPlanning(place, written);
      return;
    }
    if (!this.told.planned.includes(name)) {
      this.told.planned.push(name);
      yield this.event({ kind: 'planned', ...place, depth, plan });
    }
    for (const step of steps) yield* this.tellStep(trace, round, step);
    if (decision === null || this.told.reviewed.includes(name)) return;
    this.told.reviewed.push(name);
    yield this.event({ kind: 'reviewed', ...place, decision });
  }

  private *tellPlanning(place: RoundPlace, written: readonly LiveText[]): Generator<LiveEvent> {
    const name = placeKey(place);
    for (const { offset, text: delta, ...piece } of written.map(pieceOf)) {
      const told = replyOf(piece, this.told.planning[name]);
      if (piece.call !== told.call || offset !== told.characters) continue;
      this.told.planning[name] = { ...told, characters: offset + delta.length };
      yield this.event({ kind: 'planning', ...place, attempt: told.attempt, offset, delta });
    }
  }

  private *tellStep(trace: SolveResult, round: Round, step: Step): Generator<LiveEvent> {
    if (step.startedAt === null && step.output === null) return;
    const place = { childId: round.childId, round: round.round, step: step.index };
    const told = yield* this.begin(place, step);
    const isLast = step.index === round.steps.length - 1;
    const isProvisional = isLast && this.mayBeReviewed(round.depth);
    const at = { ...place, ...(isProvisional && { provisional: true as const }) };
    for (const text of this.take(place)) {
      yield* this.tellTools(place, told, step, text.startedAt);
      yield* this.tellText(at, told, pieceOf(text));
    }
    yield* this.tellTools(place, told, step);
    if (told.ended === null) yield* this.tellEnd(at, told, trace, step);
  }

  /** Emits what became known of a step's calls of tools, up to an instant: a turn's text comes after earlier calls. */
  private *tellTools(place: StepPlace, told: ToldStep, step: Step, until?: string): Generator<LiveEvent> {
    if (told.ended !== null) return;
    for (const news of toolNewsOf(step, told.tools)) {
      if (until !== undefined && news.at > until) return;
      told.tools = withNews(told.tools, news);
      yield this.event({ ...place, ...news.event });
    }
  }

  private *tellEnd(at: TextPlace, told: ToldStep, trace: SolveResult, step: Step): Generator<LiveEvent> {
    const { output, worker, error, endedAt } = step;
    if (output === null) return;
    const calls = callsOf(trace, at);
    const call = calls.at(-1) ?? '';
    if (isAhead(told, trace, calls)) return;
    // The log lost the pieces that show that text was part of the thoughts.
    if (told.call === call && !isBeginningOf(output, told)) yield this.restart(at, told);
    for (const piece of restOf(step, told, call)) yield* this.tellText(at, told, piece);
    // The rest of the log of this call is already known.
    told.since = endedAt ?? told.since;
    told.ended = error === null ? 'answered' : 'failed';
    const { childId, round } = at;
    yield this.event({ kind: 'stepEnded', childId, round, step: step.index, worker, error });
  }

  /** Emits the start of a step, or a restart if it had failed and another call is made for it. */
  private *begin(place: StepPlace, { worker, model, error }: Step): Generator<LiveEvent, ToldStep> {
    const known = this.told.steps[placeKey(place)];
    if (known === undefined) {
      const told: ToldStep = {
        call: null,
        since: '',
        attempt: 1,
        characters: 0,
        thoughts: 0,
        tail: '',
        ended: null,
      };
      this.told.steps[placeKey(place)] = told;
      yield this.event({ kind: 'stepStarted', ...place, worker, model });
      return told;
    }
    if (known.ended === 'failed' && error === null) yield this.restart(place, known);
    return known;
  }

  private *tellText(place: TextPlace, told: ToldStep, piece: TextPiece): Generator<LiveEvent> {
    const { call, text, since, turn } = piece;
    if (isTooLate(piece, told)) return;
    const logged = call === told.call ? loggedOf(told) : 0;
    if (isVoidBy(piece, told)) yield this.restart(place, told, isLaterTurn(piece, told));
    Object.assign(told, { call, since, logged, turn });
    // A piece is missing, or was emitted before: the end of the step brings the rest.
    if (piece.offset !== logged || text === '') return;
    told.logged = logged + text.length;
    if (piece.isThoughts === true) yield* this.tellThoughts(place, told, text);
    else yield this.addText(place, told, text);
  }

  /** Emits thoughts as the trace has them: without white space before them. */
  private *tellThoughts(place: StepPlace, told: ToldStep, text: string): Generator<LiveEvent> {
    const delta = told.thoughts === 0 ? text.trimStart() : text;
    if (delta !== '') yield this.addThoughts(place, told, delta);
  }

  private addText(place: TextPlace, told: ToldStep, delta: string): LiveEvent {
    const { attempt, characters: offset } = told;
    const before = offset === 0 ? '' : told.tail;
    told.characters += delta.length;
    told.tail = tailOf(before + delta);
    return this.event({ kind: 'text', ...place, attempt, offset, delta });
  }

  private addThoughts({ childId, round, step }: StepPlace, told: ToldStep, delta: string): LiveEvent {
    const { attempt, thoughts: offset } = told;
    told.thoughts += delta.length;
    told.tail = tailOf(told.tail + delta);
    return this.event({ kind: 'thoughts', childId, round, step, attempt, offset, delta });
  }

  private restart({ childId, round, step }: StepPlace, told: ToldStep, isCommentary = false): LiveEvent {
    const attempt = told.attempt + 1;
    Object.assign(told, {
      call: null,
      attempt,
      characters: 0,
      thoughts: 0,
      tail: '',
      logged: 0,
      ended: null,
    });
    const said = isCommentary && { isCommentary };
    return this.event({ kind: 'restarted', childId, round, step, attempt, ...said });
  }

  /** Removes and returns the new texts of a step, or of the plan of a round. */
  private take(place: RoundPlace & { readonly step: number | null }): LiveText[] {
    const isOf = (text: LiveText): boolean =>
      text.round === place.round &&
      text.step === place.step &&
      text.workflowId === (place.childId ?? this.rootId);
    const taken = this.texts.filter(isOf);
    if (taken.length > 0) this.texts = this.texts.filter((text) => !isOf(text));
    return taken;
  }

  private event(event: LiveHappening): LiveEvent {
    return { ...event, cursor: cursorOf(this.told) };
  }
}

/** Returns what was emitted of the reply that a piece belongs to: nothing, if it is of a later attempt. */
function replyOf({ call, since }: Pick<TextPiece, 'call' | 'since'>, told: ToldReply = NO_REPLY): ToldReply {
  const isLater = call !== told.call && since >= told.since;
  return isLater ? { call, since, attempt: told.attempt + 1, characters: 0 } : told;
}

/** Whether the log is ahead of the trace, which has the end of an earlier call of the step. */
function isAhead({ call }: ToldStep, { status }: SolveResult, calls: readonly string[]): boolean {
  return status === 'running' && call !== null && !calls.includes(call);
}

/** Returns the attempts of a step's calls; the last one wrote its output. */
function callsOf({ calls }: SolveResult, place: StepPlace): string[] {
  const own = calls.filter((call) => isCallOf(call, place, place.step));
  return own.map(({ callId, attempt }) => `${callId}/${attempt}`);
}

function placeKey(place: RoundPlace | StepPlace): string {
  const { childId, round } = place;
  return [childId ?? '', round, ...('step' in place ? [place.step] : [])].join(' ');
}
