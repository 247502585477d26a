import { roundsOf } from '../../../src/trace/run-tree';
import type { TextPlace } from '../api/live-texts';
import type { Solve } from '../api/types';

const FIRST: TextPlace = { childId: null, round: 0, step: 0 };

/** The step that writes what is the answer by now: the last one of the latest plan that has come so far. */
export function answeringPlace(solve: Solve): TextPlace {
  const planned = roundsOf(solve).filter(({ steps }) => steps.length > 0);
  const hasBegun = planned.findLast(({ steps }) => typeof steps.at(-1)?.startedAt === 'string');
  const round = hasBegun ?? planned[0];
  return round === undefined
    ? FIRST
    : { childId: round.childId, round: round.round, step: round.steps.length - 1 };
}
