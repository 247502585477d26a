import {
  type Protocol,
  type SimulatedProviders,
  type Simulation,
  startSimulatedProviders,
} from '../../src/testing';
import { useEach } from '../support/use';

export const PROTOCOLS: readonly Protocol[] = ['openai-chat', 'openai-responses', 'anthropic', 'google'];

/** Starts new simulated providers for each test. */
export function useProviders(simulation?: Simulation): SimulatedProviders {
  return useEach(() => startSimulatedProviders(simulation));
}

/** Posts a body without an SDK. */
export function post(
  { url }: SimulatedProviders,
  path: string,
  body: string,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(url + path, { method: 'POST', body, ...(signal && { signal }) });
}
