import { readGivenConfig } from '../config/load';
import type { ConductorPluginOptions } from '../plugin';
import { configuredStore } from '../store/open-store';
import { WorkerPlugin } from '../worker/worker-plugin';
import { createEvaluationActivities } from './activities';

/**
 * Turns any Temporal worker into one that solves and evaluates. Use it instead of `ConductorPlugin`, since an
 * evaluation runs ordinary solves. `TrainingPlugin` also evaluates.
 *
 * @example
 * // workflows.ts
 * export * from 'temporal-conductor/evaluation/workflows';
 * // worker.ts
 * await Worker.create({ ...options, plugins: [new EvaluationPlugin()] });
 */
export class EvaluationPlugin extends WorkerPlugin {
  constructor({ config: given, store: givenStore }: ConductorPluginOptions = {}) {
    const config = readGivenConfig(given);
    const store = givenStore ?? configuredStore(config);
    const activities = createEvaluationActivities(store);
    super('temporal-conductor.EvaluationPlugin', { config, store }, { activities });
  }
}
