import { SimplePlugin } from '@temporalio/plugin';
import { type CodeTools, withCodeTools } from '../activities';
import { createConfigReader } from '../config/load';
import { noticesOf } from '../config/resolve-run';
import { type Config, type ConfigInput, configSchema } from '../config/schema';
import { configuredStore } from '../store/open-store';
import type { Store } from '../store/store';
import type { NexusCallers } from './callers';
import { createNexusActivities } from './tell-caller';
import { solveService } from './solve-operation';

export interface ConductorNexusPluginOptions {
  /** Namespaces that may ask, and what each may spend: whoever can reach the endpoint spends money. */
  readonly callers: NexusCallers;
  /** Option of `ConductorPlugin`. */
  readonly config?: string | ConfigInput;
  /** Option of `ConductorPlugin`. */
  readonly store?: Store;
  /** Option of `ConductorPlugin`. */
  readonly tools?: CodeTools;
}

/**
 * Lets workflows of other namespaces ask the team, by a Nexus endpoint that leads to the worker's task queue. Mount it
 * before `ConductorPlugin`, and export the workflows of `temporal-conductor/nexus/workflows`.
 *
 * @example
 * const callers = { orders: { usdPerDay: 5 } };
 * await Worker.create({ ...options, plugins: [new ConductorNexusPlugin({ callers }), new ConductorPlugin()] });
 */
export class ConductorNexusPlugin extends SimplePlugin {
  constructor({ callers, config: given, store: givenStore, tools = {} }: ConductorNexusPluginOptions) {
    const withTools = (written: unknown): unknown => withCodeTools(written, tools);
    const config = createConfigReader<ConfigInput, Config>(configSchema, withTools, noticesOf).readGiven(
      given,
    );
    const store = givenStore ?? configuredStore(config);
    const team = { callers, config, store };
    super({
      name: 'temporal-conductor.ConductorNexusPlugin',
      nexusServices: [solveService(team)],
      activities: createNexusActivities(team),
    });
  }
}
