import { chanceOf, workOf, type Work } from './chance';
import { diceFor, type Dice } from './dice';
import { kindOf } from './kind-of';
import { PLAN, readPrompt, REVISED, type ReadPrompt } from './read-prompt';
import { workerOf, type World } from './world';

/** One call of a simulated worker. */
export interface WorldCall {
  readonly worker: string;
  /** The whole prompt. */
  readonly prompt: string;
  /** What it draws its luck from: a call that is made again gets the same reply, another call another one. */
  readonly callId: string;
}

/** How far off a wrong number is. */
const ERRORS = [-9, -3, -1, 1, 2, 7];
/** How often a worker rightly says whether it is sure. */
export const CANDOUR = 0.85;

/**
 * What a simulated worker replies: a pure function of the world, its seed and the call.
 *
 * @throws RangeError where the prompt is not of this world
 */
export function replyAs(world: World, seed: number, { worker, prompt, callId }: WorldCall): string {
  const read = readPrompt(world, prompt);
  const kind = kindOf(read.subtask);
  const dice = diceFor('reply', seed, worker, callId);
  const isGood = dice.happens(chanceOf(read.topic, workerOf(world, worker), kind, read.seen));
  return wordsFor(workOf(kind, isGood, read.seen), read, dice);
}

function wordsFor(work: Work, { a, b }: ReadPrompt, dice: Dice): string {
  const error = work.isGood ? 0 : dice.pick(ERRORS);
  if (work.is === 'plan') return `${PLAN} ${a} and ${b + error}, then state the total.`;
  const isSure = dice.happens(CANDOUR) === work.isGood;
  const answer = `<answer>${a + b + error}</answer> I am ${isSure ? 'sure' : 'not sure'}.`;
  return work.isRevision ? `${REVISED} ${answer}` : answer;
}
