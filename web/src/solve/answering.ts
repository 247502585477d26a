import { roundsOf } from '../../../src/trace/run-tree';
import type { StepPlace } from '../api/live-texts';
import type { Solve } from '../api/types';

const FIRST: StepPlace = { childId: null, round: 0, step: 0 };

/** Returns the last step of the latest plan whose last step has started, or else of the first plan. */
export function answeringPlace(solve: Solve): StepPlace {
  const planned = roundsOf(solve).filter(({ steps }) => steps.length > 0);
  const hasBegun = planned.findLast(({ steps }) => typeof steps.at(-1)?.startedAt === 'string');
  const round = hasBegun ?? planned[0];
  return round === undefined
    ? FIRST
    : { childId: round.childId, round: round.round, step: round.steps.length - 1 };
}
