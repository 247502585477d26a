import type { ModelBehaviour, SimulatedRequest } from '../behaviour';
import { startSimulatedProviders } from '../simulated-providers';
import type { SimulatedProviders, Simulation } from '../simulated-providers';
import { replyAs } from './reply-as';
import type { World, WorldWorker } from './world';

/** How a world is served. */
export interface WorldOptions {
  readonly world: World;
  /** Decides every reply, beside the call itself; default 0. */
  readonly seed?: number | undefined;
  /** Latency of every worker, in milliseconds; default 0. */
  readonly delayMs?: number | undefined;
}

/** Serves each worker of a world as a model of its name, in the protocols of all vendors, at the world's prices. */
export function startWorld({
  world,
  seed,
  delayMs,
  ...rest
}: WorldOptions & Pick<Simulation, 'port' | 'firstSequence' | 'observe'>): Promise<SimulatedProviders> {
  return startSimulatedProviders({ ...rest, ...simulateWorld({ world, seed, delayMs }) });
}

/** A world as simulated providers take it. */
export function simulateWorld({ world, seed = 0, delayMs = 0 }: WorldOptions): Simulation {
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
