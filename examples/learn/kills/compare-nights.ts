import { isDeepStrictEqual } from 'node:util';
import { callsOf, repeatedInVain } from './repeated-calls';
import type { NightFacts } from './scene';

/** How a night whose processes were killed differs from an undisturbed one: by nothing, if all is well. */
export interface NightDifference {
  /** Cycles whose weights, batch, rewards or verdicts are others. */
  readonly cycles: readonly number[];
  /** Ids of calls that were made once more though their answer had been kept. */
  readonly madeTwice: readonly string[];
  /** Ids of calls that were never made. */
  readonly lost: readonly string[];
  /** Ids of calls that an undisturbed night does not make. */
  readonly leaked: readonly string[];
}

export function compareNights(undisturbed: NightFacts, disturbed: NightFacts): NightDifference {
  const count = Math.max(undisturbed.cycles.length, disturbed.cycles.length);
  const places = Array.from({ length: count }, (_, place) => place);
  const [wanted, made] = [callsOf(undisturbed), callsOf(disturbed)];
  return {
    cycles: places
      .filter((place) => !isDeepStrictEqual(undisturbed.cycles[place], disturbed.cycles[place]))
      .map((place) => place + 1),
    madeTwice: repeatedInVain(disturbed),
    lost: [...wanted].filter((call) => !made.has(call)),
    leaked: [...made].filter((call) => !wanted.has(call)),
  };
}

/** Nothing differs. */
export const SAME: NightDifference = { cycles: [], madeTwice: [], lost: [], leaked: [] };
