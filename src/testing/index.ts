/** Simulated model providers, for tests and demos that go through real SDKs and real HTTP. */
export { startSimulatedProviders, type SimulatedProviders, type Simulation } from './simulated-providers';
export type { Answer, AnswerFunction, ModelBehaviour, Reply, SimulatedRequest } from './simulated-model';
export type { Fault, FaultKind, RetryAfter } from './faults';
export type { RequestOutcome, RequestRecord } from './request-log';
export type { Protocol } from './wire/wire';
