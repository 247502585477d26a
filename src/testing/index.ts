/** Simulated model providers, for tests and demos that go through real SDKs and real HTTP. */
export { startSimulatedProviders } from './simulated-providers';
export type { SimulatedProviders, Simulation } from './simulated-providers';
export type { Answer, AnswerFunction, ModelBehaviour, Reply, SimulatedRequest } from './behaviour';
export type { Fault, FaultKind } from './faults';
export type { RequestOutcome, RequestRecord } from './request-log';
export type { RetryAfter } from './faults';
export type { Protocol } from './wire/wire';
