import { type World } from './world';
/**
 * Four topics, five workers, up to three steps. Best are: for trivia the quick worker alone; for algebra a solver and a
 * check; for law a solver and a refinement; for code a plan, a solver and a check, each by another worker. No worker
 * alone comes near it.
 */
export declare const WHOLE_WORLD: World;
/**
 * All topics and workers in plans of two steps at most, so that a policy soon learns to plan and is left with the
 * question of who is there to do it.
 */
export declare const MIDDLE_WORLD: World;
/** The smallest part of the whole world in which two topics still need different teams: learned in a minute or two. */
export declare const SMALL_WORLD: World;
//# sourceMappingURL=worlds.d.ts.map