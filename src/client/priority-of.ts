import type { WorkflowOptions } from '@temporalio/client';
import type { SolveInput } from '../protocol/solve';

/**
 * Temporal's own keys for which run comes first and for whom; children and calls inherit them. None where nothing was
 * asked for: a fairness key is billed on Temporal Cloud.
 */
export function priorityOf({
  priority,
  tenant,
}: Pick<SolveInput, 'priority' | 'tenant'>): Pick<WorkflowOptions, 'priority'> {
  if (priority === undefined && tenant === undefined) return {};
  return {
    priority: {
      ...(priority !== undefined && { priorityKey: priority }),
      ...(tenant !== undefined && { fairnessKey: tenant }),
    },
  };
}
