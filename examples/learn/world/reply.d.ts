import { type Work } from './chance';
import { type WorldQuestion } from './questions';
import { type World } from './world';
/** One call of a simulated worker. */
export interface WorldCall {
    readonly worker: string;
    /** The whole prompt. */
    readonly prompt: string;
    /** What it draws its luck from: a call that is made again gets the same reply, another call another one. */
    readonly callId: string;
}
/** How often a worker rightly says whether it is sure. */
export declare const CANDOUR = 0.85;
/**
 * What a simulated worker replies: a pure function of the world, its seed and the call.
 *
 * @throws RangeError where the prompt is not of this world
 */
export declare function replyAs(world: World, seed: number, { worker, prompt, callId }: WorldCall): string;
/** What a worker of the world understands of its prompt. */
export interface ReadPrompt extends WorldQuestion {
    readonly subtask: string;
    /** Earlier replies that it is shown, oldest first. */
    readonly seen: readonly Work[];
}
/**
 * Reads the tagged prompt of a worker (see `plan/worker-prompt.ts`): question, own subtask, and each reply shown. What a
 * reply is worth is read off its text alone, so that correctness travels as it does between real models.
 *
 * @throws RangeError where it is no such prompt, or not about this world
 */
export declare function readPrompt(world: World, text: string): ReadPrompt;
/** The number that a reply states as its answer: the last one, as graders read it. */
export declare function answerIn(reply: string): number | null;
/** What a reply of a worker begins with. */
export declare const PLAN = "Plan: add";
export declare const REVISED = "Revised:";
//# sourceMappingURL=reply.d.ts.map