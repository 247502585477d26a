import type { ModelBehaviour, SimulatedRequest } from '../../src/testing/simulated-model';
import {
  type SimulatedProviders,
  type Simulation,
  startSimulatedProviders,
} from '../../src/testing/simulated-providers';
import { chanceOf, kindOf, type Work, workOf } from './optimum';
import { numbersIn, readQuestion, type WorldQuestion } from './questions';
import { type Dice, diceFor, workerOf, type World, type WorldWorker } from './world';

/** A world, and where it is served. */
export type WorldOptions = SimulatedWorld & Pick<Simulation, 'port' | 'firstSequence' | 'observe'>;

/** Serves each worker of a world in the protocols of all vendors. */
export function startWorld(options: WorldOptions): Promise<SimulatedProviders> {
  const { port, firstSequence, observe } = options;
  return startSimulatedProviders({
    ...simulateWorld(options),
    ...(port !== undefined && { port }),
    ...(firstSequence !== undefined && { firstSequence }),
    ...(observe && { observe }),
  });
}

/** A world, and how it answers. */
export interface SimulatedWorld {
  readonly world: World;
  /** Decides every reply, together with the call; default 0. */
  readonly seed?: number;
  /** Latency of every worker, in milliseconds; default 0. */
  readonly delayMs?: number;
}

/** Returns each worker of a world as a simulated model of the same name, at the world's prices. */
export function simulateWorld({ world, seed = 0, delayMs = 0 }: SimulatedWorld): Simulation {
  const models = world.workers.map((worker): [string, ModelBehaviour] => [
    worker.id,
    { answer: answerOf(world, seed, worker), price: worker.price, delayMs },
  ]);
  return { seed, models: Object.fromEntries(models) };
}

/** Identifies a call without an id by its prompt, so that equal prompts get equal replies. */
function answerOf(world: World, seed: number, { id }: WorldWorker) {
  return ({ text, callId }: SimulatedRequest): string =>
    replyAs(world, seed, { worker: id, prompt: text, callId: callId ?? text });
}

/** One call of a simulated worker. */
export interface WorldCall {
  readonly worker: string;
  /** The whole prompt. */
  readonly prompt: string;
  /** Seeds the reply: a repeated call gets the same one, other calls are drawn independently. */
  readonly callId: string;
}

/** Errors of wrong numbers. */
const ERRORS = [-9, -3, -1, 1, 2, 7];
/** Chance that a worker correctly says whether it is sure. */
export const CANDOUR = 0.85;

/**
 * Returns a simulated worker's reply: a pure function of the world, its seed and the call.
 *
 * @throws RangeError if the prompt is not of this world
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

/** A prompt as a worker of the world understands it. */
export interface ReadPrompt extends WorldQuestion {
  readonly subtask: string;
  /** Earlier replies that it is shown, oldest first. */
  readonly seen: readonly Work[];
}

/**
 * Reads a worker's tagged prompt (see src/plan/prompt/worker.ts): question, own subtask, and each reply shown. A
 * reply is judged by its text alone, so that right and wrong spread as they do between real models.
 *
 * @throws RangeError if it is no such prompt, or not about this world
 */
function readPrompt(world: World, text: string): ReadPrompt {
  const [, mark = ''] = /<question(-\d+)?>\n/.exec(text) ?? [];
  const question = readQuestion(world, onlyIn(text, `question${mark}`));
  return {
    ...question,
    subtask: onlyIn(text, `your_subtask${mark}`),
    seen: allIn(text, `answer${mark}`).flatMap((reply) => workIn(reply, question)),
  };
}

/** Returns the number that a reply gives as its answer: the last one, as graders do. */
export function answerIn(reply: string): number | null {
  const [, number] = [...reply.matchAll(/<answer>\s*(-?\d+)\s*<\/answer>/g)].at(-1) ?? [];
  return number === undefined ? null : Number(number);
}

/** Beginning of a worker's reply. */
const PLAN = 'Plan: add';
const REVISED = 'Revised:';

function workIn(reply: string, { a, b }: WorldQuestion): Work[] {
  const answer = answerIn(reply);
  if (answer !== null)
    return [{ is: 'answer', isGood: answer === a + b, isRevision: reply.startsWith(REVISED) }];
  if (!reply.startsWith(PLAN)) return [];
  const [first, second] = numbersIn(reply);
  return [{ is: 'plan', isGood: first === a && second === b }];
}

function onlyIn(text: string, tag: string): string {
  const [found] = allIn(text, tag);
  if (found !== undefined) return found;
  throw new RangeError(`This is not a worker prompt of this world: <${tag}> is missing.\n${text}`);
}

function allIn(text: string, tag: string): string[] {
  return [...text.matchAll(new RegExp(`<${tag}>\\n(.*?)\\n</${tag}>`, 'gs'))].map(([, inner = '']) => inner);
}
