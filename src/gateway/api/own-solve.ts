import { describeRun } from '../../client/list-runs';
import { SOLVE_PART_WORKFLOW, SOLVE_WORKFLOW } from '../../protocol/names';
import type { Gateway } from '../gateway';
import type { Key } from '../access/keys';
import { Refusal } from '../refusal';
import { mayTouch } from '../solve/start-solve';

const SOLVES: readonly string[] = [SOLVE_WORKFLOW, SOLVE_PART_WORKFLOW];

/**
 * Finds a solve that the key may use, or a child of one, whose id begins with its parent's. Other ids are refused
 * without a lookup, so a caller cannot learn whether such a solve exists.
 * @throws Refusal
 */
export async function requireSolve(
  { temporal }: Gateway,
  key: Key,
  id: string,
): Promise<{ readonly isRunning: boolean }> {
  const run = mayTouch(key, id) ? await describeRun(temporal, id) : null;
  if (run !== null && SOLVES.includes(run.type)) return { isRunning: run.status.name === 'RUNNING' };
  const message = `there is no solve ${JSON.stringify(id.slice(0, 200))} for this key: GET /api/solves lists those that exist`;
  throw new Refusal(404, message, { reason: 'solve_not_found' });
}
