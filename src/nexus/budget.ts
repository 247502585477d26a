import type { Client } from '@temporalio/client';
import { ConductorClient, unlessNotFound } from '../client';
import { DayBudgets, type Holder } from '../gateway/access';
import type { Store } from '../store/store';
import type { NexusCallers } from './callers';
import { nexusCallId } from './names';

/** Returns the day budgets of a store, which asks the server about solves that money is held for. */
export function budgetsOf(client: Client, store: Store): DayBudgets {
  const conductor = new ConductorClient({ client, store });
  return new DayBudgets(store, async (id) => {
    const trace = await unlessNotFound(conductor.trace(id));
    if (trace !== null) return trace;
    // The workflow that is to start the solve may wait for a worker.
    const call = await unlessNotFound(client.workflow.getHandle(nexusCallId(id)).describe());
    return call?.status.name === 'RUNNING' ? NOT_BEGUN : null;
  });
}

const NOT_BEGUN = { status: 'running', costUsd: 0, costIsLowerBound: true } as const;

/** Returns a calling namespace as the holder of what its solves may use: every model, within the configured limits. */
export function namespaceHolder(caller: string, callers: NexusCallers): Holder {
  // A namespace that was taken off the list since has no budget to book to.
  const { usdPerDay } = callers[caller] ?? { usdPerDay: null };
  return { id: `nexus-${caller}`, name: caller, kind: 'namespace', usdPerDay, isAdmin: false, models: null };
}
