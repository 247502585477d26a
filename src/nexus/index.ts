/** Entry point for callers in other namespaces; workflow code may import it. */
export { conductorNexusService, type NexusAnswer, type NexusQuestion, type NexusSolveName } from './contract';
