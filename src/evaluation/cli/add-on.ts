import type { AddOn } from '../../cli/add-ons';
import { EVALUATE_WORKFLOW } from '../contract';

/** Loads what it needs only when it is asked for: every command begins with this file. */
export const EVALUATION: AddOn = {
  pluginFor: async (solved) => {
    const { EvaluationPlugin } = await import('../plugin.js');
    return { plugin: new EvaluationPlugin(solved), bundle: 'workflow' };
  },
  workflowOf: () => ({ type: EVALUATE_WORKFLOW, stopOf: (id) => `cancel ${id}` }),
};
