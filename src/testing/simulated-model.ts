import { createHash } from 'node:crypto';
import { nanoUsdOf } from '../budget/nano-usd';
import type { Usage } from '../protocol/call';
import type { Answer, AnswerFunction, ModelBehaviour, Reply, SimulatedRequest } from './behaviour';
import type { Fault } from './faults';

/** One model of the simulation: what it answers next, and the gates that hold it back. */
export class SimulatedModel {
  readonly delayMs: number;
  readonly #behaviour: ModelBehaviour;
  readonly #seed: number;
  readonly #script: Answer[];
  readonly #lookupFaults: Fault[] = [];
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

  scriptLookups(faults: readonly Fault[]): void {
    this.#lookupFaults.push(...faults);
  }

  /** What the next request about one of its responses in the background meets; undefined: nothing out of order. */
  nextLookupFault(): Fault | undefined {
    return this.#lookupFaults.shift();
  }

  answerWith(answer: Answer | AnswerFunction): void {
    this.#answer = answer;
  }

  /** Holds every request back until the returned function is called. */
  hold(): () => void {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    this.#gates.add(gate);
    return () => {
      this.#gates.delete(gate);
      open();
    };
  }

  async opened(): Promise<void> {
    await Promise.all(this.#gates);
  }

  /** The script first, then what the schedule draws, then the standing answer. */
  next(request: SimulatedRequest): Answer {
    return this.#script.shift() ?? this.#drawScheduled(request) ?? this.#standingAnswer(request);
  }

  /** What it says when nothing goes wrong: the standing answer, or a plain one where that is a fault. */
  ownReply(request: SimulatedRequest): Reply {
    const standing = this.#standingAnswer(request);
    if (typeof standing === 'string') return { text: standing };
    return 'fault' in standing ? { text: plainAnswer(request) } : standing;
  }

  /** What it charges for so many tokens, in nano-USD; null where its price is unknown. */
  charge(usage: Usage): number | null {
    const { price } = this.#behaviour;
    return price === undefined ? null : nanoUsdOf(usage, price);
  }

  #standingAnswer(request: SimulatedRequest): Answer {
    return typeof this.#answer === 'function' ? this.#answer(request) : this.#answer;
  }

  #drawScheduled({ model, text }: SimulatedRequest): Answer | undefined {
    const { schedule = [] } = this.#behaviour;
    const occurrence = (this.#seen.get(text) ?? 0) + 1;
    this.#seen.set(text, occurrence);
    const drawn = draw(this.#seed, model, text, occurrence);
    let upTo = 0;
    return schedule.find(({ share }) => drawn < (upTo += share))?.answer;
  }
}

/** Another text for each model and each prompt, so that who answered what to whom can be read off it. */
function plainAnswer({ model, text }: SimulatedRequest): string {
  return `${model} answers ${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

/** The models of a simulation by name; a name without a behaviour gets the fallback's. */
export class Cast {
  readonly #models: Map<string, SimulatedModel>;
  readonly #makeOther: () => SimulatedModel;

  constructor(behaviours: Readonly<Record<string, ModelBehaviour>>, fallback: ModelBehaviour, seed: number) {
    const make = (behaviour: ModelBehaviour): SimulatedModel => new SimulatedModel(behaviour, seed);
    this.#models = new Map(Object.entries(behaviours).map(([name, given]) => [name, make(given)]));
    this.#makeOther = () => make(fallback);
  }

  get names(): readonly string[] {
    return [...this.#models.keys()];
  }

  model(name: string): SimulatedModel {
    const model = this.#models.get(name) ?? this.#makeOther();
    this.#models.set(name, model);
    return model;
  }
}

/**
 * A number in [0, 1) that depends on its arguments alone, evenly spread: the first 48 bits of their SHA-256.
 *
 * A generator with a state would give each request another number whenever requests that run side by side arrive
 * in another order; this does not.
 */
export function draw(...key: readonly (string | number)[]): number {
  const digest = createHash('sha256').update(JSON.stringify(key)).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}
