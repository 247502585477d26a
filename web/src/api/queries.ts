import {
  QueryClient,
  useMutation,
  type UseMutationResult,
  useQuery,
  type UseQueryResult,
} from '@tanstack/react-query';
import { Refused, request, Unreachable } from './request';
import type { Asked, CostReport, HeldLimits, Me, Solve, SolveList, Started } from './types';

const RETRY_MS = 1500;

/** A refusal stands; a gateway that is away is asked again until it is there. */
function isWorthAnotherTry(_: number, error: Error): boolean {
  return error instanceof Unreachable || (error instanceof Refused && error.status >= 500);
}

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry: isWorthAnotherTry, retryDelay: RETRY_MS, staleTime: 1000, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}

export const KEYS = {
  me: ['me'],
  solves: ['solves'],
  solve: (id: string) => ['solve', id],
  limits: (id: string) => ['limits', id],
  cost: (by: string) => ['cost', by],
} as const;

const LIST_MS = 3000;
const LISTED = 100;

export function useMe(): UseQueryResult<Me> {
  return useQuery({ queryKey: KEYS.me, queryFn: () => request<Me>('/api/me'), staleTime: 60_000 });
}

export function useSolves(): UseQueryResult<SolveList> {
  return useQuery({
    queryKey: KEYS.solves,
    queryFn: () => request<SolveList>(`/api/solves?limit=${LISTED}`),
    refetchInterval: LIST_MS,
  });
}

/** How often a solve is read that runs without any event. */
const QUIET_MS = 10_000;

export function useSolve(id: string): UseQueryResult<Solve> {
  return useQuery({
    queryKey: KEYS.solve(id),
    queryFn: () => request<Solve>(solvePath(id)),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? QUIET_MS : false),
  });
}

/** The limits of a solve that runs. A change of none reads them. */
export function useLimits(id: string, isRunning: boolean): UseQueryResult<HeldLimits> {
  return useQuery({
    queryKey: KEYS.limits(id),
    queryFn: () => request<HeldLimits>(`${solvePath(id)}/limits`, { method: 'POST', body: {} }),
    enabled: isRunning,
    staleTime: Infinity,
    retry: false,
  });
}

export function useCost(by: string, isShown: boolean): UseQueryResult<CostReport> {
  return useQuery({
    queryKey: KEYS.cost(by),
    queryFn: () => request<CostReport>(`/api/cost?by=${by}`),
    enabled: isShown,
    refetchInterval: QUIET_MS,
  });
}

export function useAsk(): UseMutationResult<
  Started,
  Error,
  { readonly asked: Asked; readonly sentAs: string }
> {
  return useMutation({
    mutationFn: ({ asked, sentAs }) =>
      request<Started>('/api/solves', {
        method: 'POST',
        body: asked,
        headers: { 'idempotency-key': sentAs },
      }),
  });
}

export function solvePath(id: string): string {
  return `/api/solves/${encodeURIComponent(id)}`;
}
