import { patched } from '@temporalio/workflow';
import { workerPromptBytes } from '../../budget/prompt-bytes';
import { type WorstCase, worstCaseOf } from '../../budget/worst-case';
import { jsonBytes, utf8Bytes } from '../../plan/plan';
import { CHECK_ARGUMENTS } from '../../protocol/names';
import { nanoUsdOfCall } from '../../protocol/planning';
import type { WorkerRequest } from '../../protocol/activity-contract';
import type { Toolset } from '../../protocol/tool-cards';
import type { Text } from '../../protocol/text';
import {
  type AskedCall,
  CALLER_TOOLS,
  type CallerWishes,
  type EarlierCall,
  INLINE_CALL_BYTES,
  type ListedTool,
  type ListedTools,
  type TakenTurn,
  type ToolAnswer,
  type ToolRequest,
  type ToolResult,
  type ToolTurn,
} from '../../protocol/tool-use';
import { deniedAnswer, expiredAnswer, misfitAnswer, ordinalsOf, toolEnded } from '../../trace/tool-events';
import { keepIfLong, storeActivities } from '../activities';
import { now } from '../failures';
import type { RunContext } from '../run-context';
import { newCallerId } from './ask-caller';
import { askPerson, type Verdicts } from './ask-person';
import type { CallVerdict } from './call-approval';
import { makeCall } from './make-call';

/** Bytes of what vendors write around a call and its result. */
const CALL_BYTES = 512;
/** Change: arguments of a person are checked by the run. Written into histories: never rename it. */
const CHECKED = 'checked-arguments';
/** Times that a model may get one result for one call. */
const MOST_ALIKE = 3;

const NOBODY_ASKED: Verdicts = new Map();

/**
 * The exchange of one step's worker with its tools: each turn of the model that asks for tools leads to the results of its
 * calls, and to the next turn.
 *
 * Laws: a turn and its calls are known to the run by reference, so that its history grows by the turn and not by what was
 * said; a call that may not be repeated runs alone; after the last turn that the limits of turns, calls and
 * money allow, three times the same call with the same result, or a call for which its caller gave no result in time, the
 * model is asked once more, without tools.
 */
export class ToolLoop {
  private index = 0;
  /** Bytes of all that was said since the prompt. */
  private said = 0;
  private isStuck = false;
  private tools: readonly ListedTool[] = [];
  private wishes: CallerWishes = {};
  private readonly seen = new Map<string, number>();
  /** Calls that were made, for a worker that takes over. */
  readonly made: EarlierCall[] = [];

  private constructor(
    private readonly context: RunContext,
    private readonly toolset: Toolset,
    private readonly listed: ListedTools,
    private readonly answers: boolean,
  ) {}

  /** Begins the exchange of a worker. Returns null if none of its tools is there. */
  static async open(
    context: RunContext,
    worker: WorkerRequest['worker'],
    answers: boolean,
  ): Promise<ToolLoop | null> {
    const { run, toolBox } = context;
    if (run.toolset === undefined) return null;
    const listed = await toolBox.list();
    if (listed === null) return null;
    const hasSome = toolBox.toolsFor(worker, answers, listed).length > 0;
    return hasSome ? new ToolLoop(context, run.toolset, listed, answers) : null;
  }

  first(request: WorkerRequest): ToolTurn {
    return this.turn(request, null);
  }

  /** Carries out the calls of a turn, and returns the next one. Throws only the run's own cancellation. */
  async goOn(request: WorkerRequest, taken: TakenTurn): Promise<ToolTurn> {
    const { calls, ref } = taken;
    const ordinals = ordinalsOf(calls);
    const { round, step, worker } = request;
    const place = { round, step, worker: worker.id, turn: this.index };
    const isAsked = ordinals.length > 0;
    const verdicts = isAsked ? await askPerson(this.context, place, ordinals) : NOBODY_ASKED;
    const make = (call: AskedCall, ordinal: number): Promise<ToolResult> =>
      this.make(request, call, ordinal, verdicts.get(ordinal));
    const mayRunTogether = calls.every(({ name }) => this.toolOf(name)?.repeatable !== false);
    const results = mayRunTogether ? await Promise.all(calls.map(make)) : [];
    if (!mayRunTogether)
      for (const [ordinal, call] of calls.entries()) results.push(await make(call, ordinal));
    const { functions } = this.wishes;
    if (functions !== undefined) await this.context.toolBox.bring(functions);
    this.index += 1;
    this.said += ref.bytes + results.reduce((sum, result) => sum + bytesOfResult(result), 0);
    return this.turn(request, { turn: ref, results });
  }

  private turn(request: WorkerRequest, after: ToolTurn['after']): ToolTurn {
    const { toolBox } = this.context;
    const { index, said, answers } = this;
    const listed = this.offered;
    const tools = toolBox.toolsFor(request.worker, answers, listed);
    this.tools = tools;
    const namesOf = (some: readonly ListedTool[]): string[] => some.map(({ name }) => name);
    const asks = namesOf(tools.filter(({ approve }) => approve));
    const bytes = tools.reduce((sum, tool) => sum + tool.bytes, said);
    const isDemanded = this.wishes.mustCall === true || (answers && toolBox.isCallDue);
    this.wishes = {};
    const offered = { list: listed.list, names: namesOf(tools), asks };
    const turn = { index, ...offered, ...(isDemanded && { mustCall: true as const }), after, bytes };
    return { ...turn, mayCall: this.mayCall({ ...request, toolTurn: { ...turn, mayCall: true } }) };
  }

  /** Whether a turn may call tools: only if the limits allow that it does, and that another turn answers after it. */
  private mayCall(request: WorkerRequest): boolean {
    const { limits, toolBox } = this.context;
    const isOver = this.index >= this.toolset.turns || toolBox.callsLeft === 0;
    // The caller decides how long its own loop goes on, and money how long it can.
    if (this.isStuck || toolBox.isCallerGone || (isOver && !this.tools.some(isOfCaller))) return false;
    return limits.fits(this.turnAndNext(request));
  }

  /** Returns the most that a turn may cost, and the turn after it, which reads the result of one call. */
  private turnAndNext(request: WorkerRequest): [WorstCase, WorstCase] {
    const { worker, maxOutputTokens } = request;
    const bytes = workerPromptBytes(request);
    const turn = worstCaseOf(worker, bytes, maxOutputTokens);
    const added = turn.tokens - bytes + this.toolset.resultBytes + CALL_BYTES;
    return [turn, worstCaseOf(worker, bytes + added, maxOutputTokens)];
  }

  /** @param verdict null: nobody decided in time; undefined: nobody was asked */
  private async make(
    request: WorkerRequest,
    call: AskedCall,
    ordinal: number,
    verdict: CallVerdict | null | undefined,
  ): Promise<ToolResult> {
    const { id, name, problem = `There is no tool ${name}.` } = call;
    const tool = this.toolOf(name);
    const isAllowed = this.mayMake(tool);
    if (tool === undefined) return { id, name, outcome: 'error', output: problem };
    const asked = this.requestOf(request, call, tool, ordinal);
    const refusal = this.refuse(call, asked, verdict, isAllowed);
    if (refusal !== null) return { id, name, ...refusal };
    const { sent, misfit, changedTo }: SentCall = isChanged(verdict)
      ? await this.change(asked, verdict.input)
      : { sent: asked };
    // Only now, when the price would be set aside: others run beside it.
    const refused = misfit ?? this.refuseTooDear(request, tool);
    const answer = refused ?? this.hear(sent, await makeCall(this.context, sent));
    return { id, name, ...answer, ...(changedTo && { changedTo }) };
  }

  /** Notes the answer of a call that was made. Returns what the model is told. */
  private hear({ tool, input }: ToolRequest, { next, ...answer }: ToolAnswer): ToolAnswer {
    this.wishes = { ...this.wishes, ...next };
    if (answer.outcome === 'expired') this.context.toolBox.isCallerGone = true;
    this.made.push({ name: tool.name, input, ...answer });
    return this.unlessAlike(tool, input, answer);
  }

  /** Returns what the model is told of a call that is not made; null if it is. */
  private refuse(
    { problem }: AskedCall,
    asked: ToolRequest,
    verdict: CallVerdict | null | undefined,
    isAllowed: boolean,
  ): ToolAnswer | null {
    if (problem !== undefined) return { outcome: 'error', output: problem };
    if (verdict === null) return this.expire(asked);
    if (verdict?.isApproved === false) return deniedAnswer(verdict.reason);
    return isAllowed ? null : this.refuseOver();
  }

  /** Counts a call, unless it is the caller's to make. Returns whether it may be made. */
  private mayMake(tool: ListedTool | undefined): boolean {
    if (tool !== undefined && isOfCaller(tool)) return true;
    return this.context.toolBox.take() && this.index < this.toolset.turns;
  }

  private refuseOver(): ToolAnswer {
    const output = `The tool was not called: this run may make ${this.toolset.calls} calls of tools, and has made them.`;
    return { outcome: 'error', output };
  }

  /** Puts a person's arguments in place of the model's. Only the run can check what no client of ours has sent. */
  private async change(asked: ToolRequest, input: string): Promise<SentCall> {
    const changedTo = await keepIfLong(input, asked.storeId, INLINE_CALL_BYTES);
    const sent = { ...asked, input: changedTo };
    if (!patched(CHECKED)) return { sent, changedTo };
    const { list } = this.offered;
    const found = await storeActivities('check the arguments')[CHECK_ARGUMENTS]({ ...sent, list });
    const misfit = found === null ? null : this.endUnsent(sent, misfitAnswer(found));
    return { sent, changedTo, misfit };
  }

  /** Refuses a call whose price would leave too little for the turn that reads its result. */
  private refuseTooDear(request: WorkerRequest, { name, price }: ListedTool): ToolAnswer | null {
    if (price === undefined) return null;
    const [, next] = this.turnAndNext(request);
    const nanoUsd = (next.nanoUsd ?? 0) + (nanoUsdOfCall({ price }) ?? 0);
    if (this.context.limits.fits([{ ...next, nanoUsd }])) return null;
    const output =
      `The tool was not called: a call of ${name} costs $${price.perCall}, and what is left of the limits of this run ` +
      'does not pay for it and for your answer.';
    return { outcome: 'error', output };
  }

  private expire(asked: ToolRequest): ToolAnswer {
    return this.endUnsent(asked, expiredAnswer(this.context.limits.current.approvalMs));
  }

  private endUnsent(asked: ToolRequest, answer: ToolAnswer): ToolAnswer {
    this.context.recorder.record(toolEnded(asked, answer, now()));
    return answer;
  }

  private requestOf(
    { rootId, storeId, traceparent, identity, round, step, worker }: WorkerRequest,
    { input }: AskedCall,
    tool: ListedTool,
    ordinal: number,
  ): ToolRequest {
    const { resultBytes } = this.toolset;
    const place = { rootId, storeId, traceparent, identity, round, step, worker: worker.id };
    const called = { ...place, turn: this.index, ordinal, tool, input, resultBytes };
    if (!isOfCaller(tool)) return called;
    this.context.toolBox.isCallDue = false;
    return { ...called, callerId: newCallerId() };
  }

  /** Ends a loop in which a model asks the same again and again; the caller ends its own. */
  private unlessAlike(tool: ListedTool, input: Text, answer: ToolAnswer): ToolAnswer {
    if (isOfCaller(tool)) return answer;
    const key = JSON.stringify([tool.name, input, answer.output]);
    const times = (this.seen.get(key) ?? 0) + 1;
    this.seen.set(key, times);
    if (times < MOST_ALIKE) return answer;
    this.isStuck = true;
    const output = `This call has brought the same result ${times} times. Answer now with what you know.`;
    return { outcome: 'error', output };
  }

  private get offered(): ListedTools {
    return this.context.toolBox.offered ?? this.listed;
  }

  private toolOf(name: string): ListedTool | undefined {
    return this.tools.find((tool) => tool.name === name);
  }
}

/** A call as it is sent. */
interface SentCall {
  readonly sent: ToolRequest;
  /** Arguments of a person. */
  readonly changedTo?: Text;
  /** Set if they do not fit the tool. */
  readonly misfit?: ToolAnswer | null;
}

/** Whether a person put other arguments in place of the model's. */
function isChanged(verdict: CallVerdict | null | undefined): verdict is { isApproved: true; input: string } {
  return verdict?.isApproved === true && verdict.input !== undefined;
}

function isOfCaller({ card }: ListedTool): boolean {
  return card === CALLER_TOOLS;
}

/** Returns the most bytes that a result takes in a prompt, with its call. */
function bytesOfResult({ output, said = '', changedTo = '', name }: ToolResult): number {
  return textBytes(output) + textBytes(said) + textBytes(changedTo) + utf8Bytes(name) + CALL_BYTES;
}

function textBytes(text: Text): number {
  return typeof text === 'string' ? jsonBytes(text) : text.bytes;
}
