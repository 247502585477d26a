import type { AddOn } from '../../cli/add-ons';
import type { Config } from '../../config/schema';
import type { TrainableConfig } from '../config/schema';
import { TRAIN_WORKFLOW } from '../names';

const sectionOf = (config: Config) => (config as TrainableConfig).training;

/** Add-on of training. It loads what it needs only on demand, since every command loads this file. */
export const TRAINING: AddOn = {
  section: {
    name: 'training',
    load: async (options) => (await import('../config/load.js')).loadTrainableConfig(options),
  },
  placesOf: (config) => {
    const training = sectionOf(config);
    return training === undefined ? [] : [training.artifacts];
  },
  pluginFor: async ({ config, store }, servesCheckpoints) => {
    const { conductorsOf } = await import('../../config/cards.js');
    const isServed = conductorsOf(config).some(([, { provider }]) => provider === 'policy');
    const isAsked = config.training !== undefined || isServed;
    if (!isAsked && !servesCheckpoints) return null;
    const { TrainingPlugin } = await import('../plugin.js');
    return {
      plugin: new TrainingPlugin({ config: config as TrainableConfig, store }),
      bundle: 'training',
    };
  },
  workflowOf: ({ training }) =>
    training === undefined
      ? null
      : { type: TRAIN_WORKFLOW, stopOf: (id) => `train stop ${id.replace(/^train-/, '--run ')}` },
  check: async (place) => {
    const training = sectionOf(place.config);
    return training === undefined ? [] : (await import('./night-parts.js')).checkNight(training, place);
  },
  sweep: async (config, how) => {
    const training = sectionOf(config);
    if (training === undefined) return null;
    const { openFiles } = await import('../artifacts.js');
    const { sweepWeights } = await import('../activities/forget-checkpoints.js');
    return { what: 'weight file', ...(await sweepWeights(openFiles(training.artifacts), how)) };
  },
  policyOf: async (store) => (await import('../policy/conductor.js')).createPolicyProvider(store),
  checkMethods: async (store, methods) => (await import('./checkpoints.js')).checkCheckpoints(store, methods),
};
