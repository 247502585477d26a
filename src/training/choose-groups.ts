/** What a cycle's draws came to so far. */
export interface Draws {
  /** Groups that the cycle wants to learn from. */
  readonly wanted: number;
  /** The most groups that it may draw. */
  readonly maxDraws: number;
  /** For each draw that was started, in order: whether its group has a spread; null while it is under way. */
  readonly spreads: readonly (boolean | null)[];
}

/** What to do next. */
export interface GroupChoice {
  /** Draws to learn from, in ascending order; may still grow while `isOver` is false. */
  readonly keep: readonly number[];
  /** How many further draws to start now. */
  readonly more: number;
  /** Nothing is under way, and nothing more shall be drawn: `keep` holds. */
  readonly isOver: boolean;
}

/**
 * Dynamic sampling (as in DAPO): groups without spread are dropped, and others are drawn in their place.
 *
 * A draw is started only when it is needed even if all that are under way turn out well. So a cycle always makes the
 * shortest run of draws with enough groups in it, in whatever order they finish: an interrupted cycle equals an
 * undisturbed one.
 */
export function chooseGroups({ wanted, maxDraws, spreads }: Draws): GroupChoice {
  const keep = spreads.flatMap((spread, draw) => (spread === true ? [draw] : []));
  const underWay = spreads.filter((spread) => spread === null).length;
  const missing = wanted - keep.length - underWay;
  const more = Math.max(0, Math.min(missing, maxDraws - spreads.length));
  return { keep, more, isOver: underWay === 0 && more === 0 };
}
