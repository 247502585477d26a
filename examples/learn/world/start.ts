import type { ModelBehaviour, SimulatedRequest } from '../../../src/testing/behaviour';
import {
  type SimulatedProviders,
  type Simulation,
  startSimulatedProviders,
} from '../../../src/testing/simulated-providers';
import { replyAs } from './reply';
import type { World, WorldWorker } from './world';

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
