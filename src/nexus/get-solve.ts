import { ApplicationFailure } from '@temporalio/common';
import { getClient } from '@temporalio/nexus';
import * as nexus from 'nexus-rpc';
import { ConductorClient, unlessNotFound } from '../client';
import type { Store } from '../store/store';
import { type ToldSolve, toldSolveSchema } from '../trace/told-solve';
import { callingNamespace, idOfKey, type NexusCallers } from './callers';
import { nexusCallId } from './names';
import { readNexusName } from './question';
import { whyTooLong } from './tell-caller';

interface Team {
  readonly callers: NexusCallers;
  readonly store: Store;
}

/** Tells a caller how one of its solves stands. @throws HandlerError if its namespace did not ask for such a solve */
export async function getSolve(
  ctx: nexus.StartOperationContext,
  { callers, store }: Team,
  sent: unknown,
): Promise<ToldSolve> {
  const caller = callingNamespace(ctx, callers);
  const named = readNexusName(sent);
  const id = 'id' in named ? named.id : idOfKey(caller, named.key);
  const told = await findOwn(store, caller, id);
  if (told === null) {
    const shown = JSON.stringify('id' in named ? id.slice(0, 100) : named.key);
    const message = `namespace ${caller} has asked for no solve ${shown}, or it is gone`;
    throw new nexus.HandlerError('NOT_FOUND', message);
  }
  const failure = whyTooLong(told);
  if (failure === null) return told;
  const cause = ApplicationFailure.nonRetryable(failure.message, failure.type);
  throw new nexus.OperationError('failed', failure.message, { cause });
}

async function findOwn(store: Store, caller: string, id: string): Promise<ToldSolve | null> {
  const client = getClient();
  const call = await unlessNotFound(client.workflow.getHandle(nexusCallId(id)).describe());
  // Ids tell no owner for sure: the name of one namespace may begin with that of another.
  if (call?.memo?.caller !== caller) return null;
  const trace = await unlessNotFound(new ConductorClient({ client, store }).trace(id));
  if (trace !== null) return toldSolveSchema.parse(trace);
  // The workflow of the call may wait for a worker to start it.
  return call.status.name === 'RUNNING' ? notBegun(id) : null;
}

function notBegun(id: string): ToldSolve {
  const spent = { costUsd: 0, costIsLowerBound: true };
  return { id, status: 'running', answer: null, error: null, degraded: false, stoppedBy: null, ...spent };
}
