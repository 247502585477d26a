import { createHash } from 'node:crypto';
import type { Answer, AnswerFunction, ModelBehaviour, SimulatedRequest } from './behaviour';
import { draw } from './draw';

/** One model of the simulation: what it answers next, and the gates that hold it back. */
export class SimulatedModel {
  readonly delayMs: number;
  readonly #behaviour: ModelBehaviour;
  readonly #seed: number;
  readonly #script: Answer[];
  readonly #gates = new Set<Promise<void>>();
  /** How often each prompt came, so that a retry is drawn anew. */
  readonly #seen = new Map<string, number>();
  #answer: Answer | AnswerFunction;

  constructor(behaviour: ModelBehaviour, seed: number) {
    this.delayMs = behaviour.delayMs ?? 0;
    this.#behaviour = behaviour;
    this.#seed = seed;
    this.#script = [...(behaviour.script ?? [])];
    this.#answer = behaviour.answer ?? plainAnswer;
  }

  script(answers: readonly Answer[]): void {
    this.#script.push(...answers);
  }

  answerWith(answer: Answer | AnswerFunction): void {
    this.#answer = answer;
  }

  /** Holds every request back until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = withResolvers();
    this.#gates.add(promise);
    return () => {
      this.#gates.delete(promise);
      resolve();
    };
  }

  async opened(): Promise<void> {
    await Promise.all(this.#gates);
  }

  /** The script first, then a fault if one is due, then the standing answer. */
  next(request: SimulatedRequest): Answer {
    const scripted = this.#script.shift();
    if (scripted !== undefined) return scripted;
    return this.#drawFault(request) ?? this.#standingAnswer(request);
  }

  #standingAnswer(request: SimulatedRequest): Answer {
    return typeof this.#answer === 'function' ? this.#answer(request) : this.#answer;
  }

  #drawFault({ model, text }: SimulatedRequest): Answer | undefined {
    const { faultRate = 0, faults = [] } = this.#behaviour;
    const occurrence = (this.#seen.get(text) ?? 0) + 1;
    this.#seen.set(text, occurrence);
    const key = [this.#seed, model, text, occurrence];
    if (draw('whether', ...key) >= faultRate) return undefined;
    return faults[Math.floor(draw('which', ...key) * faults.length)];
  }
}

/** Another text for each model and each prompt, so that who answered what to whom can be read off it. */
function plainAnswer({ model, text }: SimulatedRequest): string {
  return `${model} answers ${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
