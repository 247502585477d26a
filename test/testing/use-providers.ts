import { startSimulatedProviders } from '../../src/testing';
import type { Protocol, SimulatedProviders, Simulation } from '../../src/testing';

export const PROTOCOLS: readonly Protocol[] = ['openai-chat', 'openai-responses', 'anthropic', 'google'];

/** Starts new simulated providers for each test. */
export function useProviders(simulation: Simulation = {}): { readonly now: SimulatedProviders } {
  const providers = {} as { now: SimulatedProviders };
  beforeEach(async () => {
    providers.now = await startSimulatedProviders(simulation);
  });
  afterEach(() => providers.now.close());
  return providers;
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
