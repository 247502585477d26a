/** What costs can be summed by. A workflow is a solve that a person asked for, with everything it called. */
export const COST_GROUPS = ['day', 'worker', 'workflow', 'model'] as const;

export type CostGroup = (typeof COST_GROUPS)[number];
