import { CompleteAsyncError } from '@temporalio/activity';
import type { ToolAnswer } from '../../protocol/tool-use';
import { readCallerResult } from '../../store/caller-calls';
import type { Store } from '../../store/store';

/**
 * Leaves a call open until a client completes its activity, or returns the result that came before any worker took it.
 * @throws CompleteAsyncError which keeps the activity open, whatever becomes of this process
 */
export async function waitForCaller(store: Store, callerId: string): Promise<ToolAnswer> {
  const result = await readCallerResult(store, callerId);
  if (result !== null) return result;
  throw new CompleteAsyncError();
}
