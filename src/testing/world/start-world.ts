import { startSimulatedProviders } from '../simulated-providers';
import type { SimulatedProviders, Simulation } from '../simulated-providers';
import { simulateWorld, type SimulatedWorld } from './simulate-world';

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
