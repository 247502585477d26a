import { z } from '@hono/zod-openapi';
import type { SolveResult } from '../../protocol/solve';
import { totalOf } from '../../trace/reduce';
import { isCallOf } from '../../trace/run-tree';
import type { Asked } from './asked';

/** Note in an answer, under the key `conductor`, on the solve that found it; the caller chooses its detail. */
export const solveNoteSchema = z
  .looseObject({
    id: z.string(),
    degraded: z.boolean(),
    stopped_by: z.string().nullable(),
    warnings: z.array(z.string()),
  })
  .openapi('SolveNote');
type SolveNote = z.infer<typeof solveNoteSchema>;

/** The caller's choice of detail, and the warnings to pass on. */
interface Choice {
  readonly extension: Pick<Asked['extension'], 'trace'>;
  readonly warnings: readonly string[];
}

export function noteOf(result: SolveResult, { extension, warnings }: Choice): SolveNote {
  const { id, degraded, stoppedBy } = result;
  const note = { id, degraded, stopped_by: stoppedBy, warnings: [...warnings] };
  if (extension.trace === 'full') return { ...note, trace: result };
  return extension.trace === 'summary' ? { ...note, steps: stepsOf(result) } : note;
}

function stepsOf({ rounds, calls }: SolveResult) {
  return rounds.flatMap(({ childId, round, plan, steps }) =>
    steps.map(({ index, worker, model, error, startedAt, endedAt }) => {
      const own = calls.filter((call) => isCallOf(call, { round, childId }, index));
      const { subtask, sees } = plan?.steps[index] ?? { subtask: '', sees: [] };
      const planned = { round, child_id: childId, index, worker, model, subtask, sees };
      const spent = { cost_usd: totalOf(own).costUsd, attempts: own.length };
      return { ...planned, error, startedAt, endedAt, ...spent };
    }),
  );
}
