/** The door for workers and clients. Workflows have their own: `temporal-conductor/workflows`. */
export { ConductorPlugin, type ConductorPluginOptions } from './plugin';
export {
  BadQuestionError,
  ConductorClient,
  type ConductorClientOptions,
  type SolveHandle,
  type SolveRequest,
} from './client/conductor-client';
