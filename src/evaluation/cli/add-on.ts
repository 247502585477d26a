import type { AddOn } from '../../cli/add-ons';
import { EVALUATE_WORKFLOW } from '../contract';

/** Add-on for evaluations. It loads its code on demand, since every command loads this file. */
export const EVALUATION: AddOn = {
  pluginFor: async (solved) => {
    const { EvaluationPlugin } = await import('../plugin.js');
    return { plugin: new EvaluationPlugin(solved), bundle: 'workflow' };
  },
  workflowOf: () => ({ type: EVALUATE_WORKFLOW, stopOf: (id) => `cancel ${id}` }),
};
