import { hash } from 'node:crypto';
import { type Client, WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { getClient, log, startWorkflow, WorkflowRunOperationHandler } from '@temporalio/nexus';
import * as nexus from 'nexus-rpc';
import { BadQuestionError, checkAsked, keepAsked, unlessNotFound, withAttributes } from '../client';
import type { Config } from '../config/schema';
import { reasonOf } from '../errors';
import { asRefusal, heldBy, holdRun } from '../gateway/access';
import { startOptionsOf } from '../protocol/planning';
import { criteriaIn } from '../protocol/search-attributes';
import type { Store } from '../store/store';
import { budgetsOf, namespaceHolder } from './budget';
import { callingNamespace, idOfKey, type NexusCallers } from './callers';
import { conductorNexusService, type NexusAnswer, type NexusQuestion } from './contract';
import { attributesOfCall, nexusCallId, NEXUS_SOLVE_WORKFLOW, type NexusCall } from './names';
import { getSolve } from './get-solve';
import { limitsWithin, readNexusQuestion } from './question';

/** What the operations of a worker rest on. */
export interface NexusTeam {
  readonly callers: NexusCallers;
  readonly config: Config;
  readonly store: Store;
}

/** Returns the service of a team, as a worker's `nexusServices` take it. */
export function solveService(team: NexusTeam): nexus.ServiceHandler<typeof conductorNexusService.operations> {
  return nexus.serviceHandler(conductorNexusService, {
    solve: new SolveOperation(team),
    getSolve: async (ctx, asked) => {
      try {
        return await getSolve(ctx, team, asked);
      } catch (error) {
        throw asNexusError(error);
      }
    },
  });
}

type Started = nexus.HandlerStartOperationResult<NexusAnswer>;

/**
 * Starts the solve of a question, or joins the one that its caller named by the same key. The caller's namespace pays:
 * what a solve may cost is held before it starts, and booked when it ends, by `TELL_CALLER`.
 */
class SolveOperation implements nexus.OperationHandler<NexusQuestion, NexusAnswer> {
  constructor(private readonly team: NexusTeam) {}

  async start(ctx: nexus.StartOperationContext, sent: unknown): Promise<Started> {
    try {
      const caller = callingNamespace(ctx, this.team.callers);
      const { key, ...question } = readNexusQuestion(sent);
      const id = key === undefined ? `nexus-${caller}-${ctx.requestId}` : idOfKey(caller, key);
      const named = { id, workflowId: nexusCallId(id), digest: hash('sha256', JSON.stringify(question)) };
      const client = getClient();
      const earlier = await findCall(client, named);
      if (earlier === 'ended') return await endOf(client, named);
      const { call, confirm } = await this.prepare(client, ctx, {
        id,
        caller,
        question,
        isNew: earlier === null,
      });
      const started = await withAttributes(client, startCall(ctx, named, call));
      await confirm();
      // An operation with the same key may have started another question in between.
      await findCall(client, named);
      return started;
    } catch (error) {
      throw asNexusError(error);
    }
  }

  cancel(ctx: nexus.CancelOperationContext, token: string): Promise<void> {
    return cancelling.cancel(ctx, token);
  }

  /** Holds what a solve may cost, unless it is running: then it has its limits, and the call is not used. */
  private async prepare(
    client: Client,
    { headers }: nexus.StartOperationContext,
    { id, caller, question, isNew }: NewCall,
  ): Promise<PreparedCall> {
    const { callers, config, store } = this.team;
    checkAsked(question);
    const limits = limitsWithin(config, question.limits, headers['operation-timeout']);
    const kept = await keepAsked(store, question);
    const input = { ...question, question: undefined, messages: undefined, limits, ...kept };
    const call = { id, caller, input, criteria: criteriaIn(config.temporal.searchAttributes) };
    if (!isNew) return { call, confirm: () => Promise.resolve() };
    const team = { config, budgets: budgetsOf(client, store) };
    const holder = namespaceHolder(caller, callers);
    const held = heldBy(holder, config, limits);
    const may = await holdRun(team, holder, id, { pool: question.pool, held });
    if (may === null) throw new Error(`another request is just starting solve ${id}: ask again`);
    return { call: { ...call, input: { ...input, ...may.held } }, confirm: may.reservation.confirm };
  }
}

interface PreparedCall {
  readonly call: NexusCall;
  /** Keeps what is held until the solve has ended. */
  readonly confirm: () => Promise<void>;
}

interface NewCall {
  readonly id: string;
  readonly caller: string;
  readonly question: Omit<ReturnType<typeof readNexusQuestion>, 'key'> & Parameters<typeof checkAsked>[0];
  readonly isNew: boolean;
}

/** A solve by the workflow that tells its end, and the digest of its question. */
interface NamedCall {
  readonly id: string;
  readonly workflowId: string;
  readonly digest: string;
}

function startCall(
  ctx: nexus.StartOperationContext,
  { workflowId, digest }: NamedCall,
  call: NexusCall,
): Promise<Started> {
  return new WorkflowRunOperationHandler<NexusCall, NexusAnswer>((context, input) =>
    startWorkflow<(call: NexusCall) => Promise<NexusAnswer>>(context, NEXUS_SOLVE_WORKFLOW, {
      workflowId,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [input],
      memo: { digest, caller: call.caller },
      ...attributesOfCall(input),
      ...startOptionsOf(call.input),
    }),
  ).start(ctx, call);
}

/** Cancels the workflow that an operation's token names. */
const cancelling = new WorkflowRunOperationHandler<never, never>(() =>
  Promise.reject(new Error('it starts no workflow')),
);

/** Says whether a solve is running or has ended; null: there is none. @throws HandlerError if its question is another */
async function findCall(
  client: Client,
  { id, workflowId, digest }: NamedCall,
): Promise<'running' | 'ended' | null> {
  const found = await unlessNotFound(client.workflow.getHandle(workflowId).describe());
  if (found === null) return null;
  if (found.memo?.digest !== digest) {
    const message = `the key of solve ${id} was used for another question: use a new one for each`;
    throw new nexus.HandlerError('CONFLICT', message);
  }
  return found.status.name === 'RUNNING' ? 'running' : 'ended';
}

/** Returns the result of a solve that ended before it was asked for again. */
async function endOf(client: Client, { workflowId }: NamedCall): Promise<Started> {
  try {
    const call = client.workflow.getHandle<(call: NexusCall) => Promise<NexusAnswer>>(workflowId);
    const answer = await call.result();
    return nexus.HandlerStartOperationResult.sync(answer);
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const state = error.cause instanceof CancelledFailure ? 'canceled' : 'failed';
    throw new nexus.OperationError(state, reasonOf(error.cause), { cause: error.cause });
  }
}

/** Returns the error that a caller sees: what is not its fault is tried again until its operation times out. */
function asNexusError(error: unknown): unknown {
  if (error instanceof nexus.HandlerError || error instanceof nexus.OperationError) return error;
  if (error instanceof BadQuestionError) return new nexus.HandlerError('BAD_REQUEST', error.message);
  const say = (line: string): void => {
    log.error(line);
  };
  const { status, message } = asRefusal(error, say, 'operation');
  if (status >= 500) return error;
  if (status !== 402) return new nexus.HandlerError('BAD_REQUEST', message);
  return new nexus.HandlerError('RESOURCE_EXHAUSTED', message, { retryableOverride: false });
}
