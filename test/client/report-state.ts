import {
  proxySinks,
  type Sinks,
  workflowInfo,
  type WorkflowInterceptorsFactory,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow';
import type { SolveTrace } from '../../src';
import { STATE_QUERY } from '../../src/protocol/names';

export interface ReportedAt {
  /** Number of the activation; a workflow task may take several. */
  readonly activation: number;
  readonly historyLength: number;
}

export interface StateSinks extends Sinks {
  readonly states: { readonly report: (state: SolveTrace, of: ReportedAt) => void };
}

/** The part of the SDK's workflow runtime that has the handlers of queries. */
interface Runtime {
  readonly queryHandlers: ReadonlyMap<string, { readonly handler: () => SolveTrace }>;
}

const { states } = proxySinks<StateSinks>();

/** Workflow interceptor that reports what a run would answer to the query `state` at the end of each activation. */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let activation = 0;
  const concludeActivation: WorkflowInternalsInterceptor['concludeActivation'] = (input, next) => {
    const { __TEMPORAL_ACTIVATOR__: runtime } = globalThis as unknown as {
      __TEMPORAL_ACTIVATOR__: Runtime;
    };
    const state = runtime.queryHandlers.get(STATE_QUERY)?.handler();
    activation += 1;
    const { historyLength } = workflowInfo();
    if (state !== undefined) states.report(state, { activation, historyLength });
    return next(input);
  };
  return { internals: [{ concludeActivation }] };
};
