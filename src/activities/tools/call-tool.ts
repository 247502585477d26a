import { hash } from 'node:crypto';
import { ApplicationFailure, type Info } from '@temporalio/activity';
import { activityInfo, Context } from '@temporalio/activity';
import { ConfigError } from '../../config/errors';
import { durationMs } from '../../config/duration';
import { codeOf, reasonOf } from '../../errors';
import { FAILURES } from '../../protocol/failures';
import { argumentsIn } from '../../protocol/parts';
import { resultText } from '../../protocol/tool-result';
import { INLINE_CALL_BYTES, type ToolAnswer, type ToolRequest } from '../../protocol/tool-use';
import type { Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import { ToolCallRecord } from '../../store/tool-calls';
import { untilWritten } from '../heartbeat';
import { causesOf } from '../models/diagnose';
import { whileUsingTool } from '../spans/tool';
import { isLasting, type ToolConnections } from './connections';
import { toolResultSchema, textOfResult } from './result-text';

/** Attempts of a call that surely sent nothing, before the model is told so. */
const MAX_UNSENT = 5;

export interface ToolDependencies {
  readonly store: Store;
  readonly connections: ToolConnections;
}

/**
 * Makes one call of a tool durable.
 *
 * 1. If an earlier attempt kept an answer, it is returned and nothing is sent.
 * 2. That the call begins is kept before anything is sent. An attempt that finds a beginning without an answer may find
 *    a call that was carried out: it sends again only if the operator called the tool repeatable. Otherwise the model
 *    is told that the outcome is unknown.
 * 3. What surely was not sent is tried again by Temporal, a few times. Every other failure is told to the model.
 * 4. The answer is kept before it is reported.
 *
 * @throws ApplicationFailure of type `Tool.Unsent`, which Temporal retries; CancelledFailure
 */
export async function callTool(dependencies: ToolDependencies, request: ToolRequest): Promise<ToolAnswer> {
  const info = activityInfo();
  const record = recordOf(dependencies.store, request, info);
  const state = isNew(request, info) ? null : await record.read();
  if (state?.state === 'answered') return state.answer;
  const answer = (end: CallEnd): Promise<ToolAnswer> => keepAnswer(dependencies.store, record, request, end);
  if (state?.state === 'begun' && !request.tool.repeatable) return answer({ outcome: 'unknown', text: LOST });
  try {
    return await answer(await send(dependencies, request, record));
  } catch (error) {
    if (Context.current().cancellationSignal.aborted || error instanceof ApplicationFailure) throw error;
    const reason = dependencies.connections.reasonFrom(request.tool.card, error);
    return answer(whatToTell(error, reason, info.attempt));
  }
}

/** A first attempt skips the lookup: if the call began before after all, it may not begin again. */
function isNew({ identity }: ToolRequest, { attempt }: Pick<Info, 'attempt'>): boolean {
  return attempt === 1 && identity === undefined;
}

/** How a call ended, with all that its tool said. */
interface CallEnd extends Omit<ToolAnswer, 'output'> {
  readonly text: string;
}

/** @throws ApplicationFailure if another attempt may succeed */
function whatToTell(error: unknown, reason: string, attempt: number): CallEnd {
  if (!(error instanceof UnsentError)) return { outcome: 'unknown', text: `${UNCLEAR} ${reason}.` };
  if (attempt < MAX_UNSENT && !error.isFinal) throw unsent(reason);
  return { outcome: 'error', text: `The tool was not called: ${reason}.`, isUnsent: true };
}

export function unsent(reason: string): ApplicationFailure {
  return ApplicationFailure.create({ type: FAILURES.toolUnsent, message: `nothing was sent: ${reason}` });
}

const LOST =
  'The outcome of this call is unknown: it was sent, and the process that waited for it was lost. It may have taken effect. ' +
  'Do not simply repeat it.';
const UNCLEAR = 'The outcome of this call is unknown, and it may have taken effect:';

/** Returns the record of a call, which is named by its place in its run, or in every run alike. */
function recordOf(
  store: Store,
  { identity, round, step, worker, turn, ordinal }: ToolRequest,
  { workflowExecution }: Pick<Info, 'workflowExecution'>,
): ToolCallRecord {
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  const run = identity === undefined ? [workflowId, runId] : [identity];
  const callId = hash('sha256', JSON.stringify([...run, round, step, worker, turn, ordinal]));
  return new ToolCallRecord(store, identity === undefined ? runId : null, callId);
}

/** Error of a call that surely was not carried out. */
class UnsentError extends Error {
  override readonly name = 'UnsentError';
  /** @param isFinal whether trying again would not help */
  constructor(
    cause: unknown,
    readonly isFinal = false,
  ) {
    super(reasonOf(cause), { cause });
  }
}

async function send(
  { store, connections }: ToolDependencies,
  request: ToolRequest,
  record: ToolCallRecord,
): Promise<CallEnd> {
  const { card, tool } = request.tool;
  const { cancellationSignal: signal } = Context.current();
  const server = connections.serverOf(card);
  if (!server.allow.includes(tool)) {
    const problem = new ConfigError(`"tools.${card}.allow" of this worker process does not name ${tool}`);
    throw new UnsentError(problem, true);
  }
  const args = argumentsIn(await readText(store, request.input)) ?? {};
  const timeout = durationMs(server.timeout);
  const progress = { isConnected: false, isSent: false };
  try {
    return await connections.use(card, async (client) => {
      progress.isConnected = true;
      // Another attempt that is alive has begun: the next one finds out what came of it.
      if (!(await untilWritten(() => record.begin()))) throw unsent('another attempt is at it');
      progress.isSent = true;
      const options = { signal, timeout, maxTotalTimeout: timeout };
      const params = { name: tool, arguments: args };
      // The client's own `callTool` would compile and apply a schema that the server sent, and that may never end.
      const ask = async () =>
        textOfResult(await client.request({ method: 'tools/call', params }, toolResultSchema, options));
      const { text, isError } = await whileUsingTool(request, ask, (told) => told.isError);
      return { outcome: isError ? 'error' : 'ok', text };
    });
  } catch (error) {
    if (signal.aborted || error instanceof ApplicationFailure) throw error;
    if (!progress.isConnected) throw new UnsentError(error, isLasting(error));
    const refusal = refusalIn(error);
    if (progress.isSent && refusal === null) throw withTimeout(error, timeout);
    await untilWritten(() => record.takeBack());
    throw new UnsentError(error, refusal === 'lasting');
  }
}

const REFUSED_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'NOT_CONNECTED',
]);

/** Statuses of refusals that pass: the session is over, as after a server's restart, or there are too many requests. */
const PASSING: readonly number[] = [404, 429];

/** Returns what kind of error says that the server never took the call; null for another error. */
function refusalIn(error: unknown): 'passing' | 'lasting' | null {
  for (const cause of causesOf(error)) {
    if (REFUSED_CODES.has(codeOf(cause))) return 'passing';
    const { status = 0 } = Object(Reflect.get(cause, 'data')) as { readonly status?: number };
    // Whoever says that a request took too long may have begun with it.
    if (status >= 400 && status < 500 && status !== 408)
      return PASSING.includes(status) ? 'passing' : 'lasting';
  }
  return null;
}

/** The client's own words for a timeout name no time. */
function withTimeout(error: unknown, timeoutMs: number): Error {
  if (codeOf(error) !== 'REQUEST_TIMEOUT') return error instanceof Error ? error : new Error(String(error));
  return new Error(`it gave no result within ${timeoutMs / 1000} s`, { cause: error });
}

async function keepAnswer(
  store: Store,
  record: ToolCallRecord,
  { resultBytes }: ToolRequest,
  { text, ...end }: CallEnd,
): Promise<ToolAnswer> {
  const output = await untilWritten(() => keepText(store, resultText(text, resultBytes), INLINE_CALL_BYTES));
  return untilWritten(() => record.answer({ ...end, output }));
}
