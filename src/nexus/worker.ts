/** Entry point for a worker that other namespaces call. */
export { ConductorNexusPlugin, type ConductorNexusPluginOptions } from './plugin';
export type { NexusCaller, NexusCallers } from './callers';
