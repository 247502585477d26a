import type { ModelBehaviour, SimulatedRequest } from '../behaviour';
import type { Simulation } from '../simulated-providers';
import { replyAs } from './reply-as';
import type { World, WorldWorker } from './world';

/** Which world, and how it answers. */
export interface SimulatedWorld {
  readonly world: World;
  /** Decides every reply, beside the call itself; default 0. */
  readonly seed?: number;
  /** Latency of every worker, in milliseconds; default 0. */
  readonly delayMs?: number;
}

/** Each worker of a world as a model of its name, at the world's prices: what simulated providers are started with. */
export function simulateWorld({ world, seed = 0, delayMs = 0 }: SimulatedWorld): Simulation {
  const models = world.workers.map((worker): [string, ModelBehaviour] => [
    worker.id,
    { answer: answerOf(world, seed, worker), price: worker.price, delayMs },
  ]);
  return { seed, models: Object.fromEntries(models) };
}

/** A call without a name of its own is named by its prompt: the same prompt, the same reply. */
function answerOf(world: World, seed: number, { id }: WorldWorker) {
  return ({ text, callId }: SimulatedRequest): string =>
    replyAs(world, seed, { worker: id, prompt: text, callId: callId ?? text });
}
