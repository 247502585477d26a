import { type SimulatedProviders, type Simulation } from '../../../src/testing/simulated-providers';
import type { World } from './world';
/** A world, and where it is served. */
export type WorldOptions = SimulatedWorld & Pick<Simulation, 'port' | 'firstSequence' | 'observe'>;
/** Serves each worker of a world in the protocols of all vendors. */
export declare function startWorld(options: WorldOptions): Promise<SimulatedProviders>;
/** Which world, and how it answers. */
export interface SimulatedWorld {
    readonly world: World;
    /** Decides every reply, beside the call itself; default 0. */
    readonly seed?: number;
    /** Latency of every worker, in milliseconds; default 0. */
    readonly delayMs?: number;
}
/** Each worker of a world as a model of its name, at the world's prices: what simulated providers are started with. */
export declare function simulateWorld({ world, seed, delayMs }: SimulatedWorld): Simulation;
//# sourceMappingURL=start.d.ts.map