import { isDepth, isHint, isWhole } from './control-input';
import type { Parent } from './parent';

/**
 * Whether a value has the shape of what a solve gives to a solve that it starts. By hand: see `solve-input.ts`. The
 * resolved run inside is taken as the parent's own word; a key goes nowhere because of it, see `pool/keys.ts`.
 */
export function isParent(value: unknown): value is Parent {
  if (!isRecord(value)) return false;
  const { rootId, depth, round, run, background, hints } = value;
  const isPlaced = typeof rootId === 'string' && isWhole(depth, 1) && isWhole(round, 0);
  const isTold = Array.isArray(background) && Array.isArray(hints) && hints.every(isHint);
  return isPlaced && isTold && isRun(run);
}

function isRun(run: unknown): boolean {
  if (!isRecord(run) || !isRecord(run.limits)) return false;
  const { workers, conductor, limits } = run;
  const isStaffed =
    isRecord(conductor) && Array.isArray(workers) && workers.every(isRecord) && workers.length > 0;
  return isStaffed && isWhole(limits.calls, 1) && isWhole(limits.wallClockMs, 1) && isDepth(limits.depth);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
