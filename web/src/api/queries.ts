import {
  type InfiniteData,
  QueryClient,
  useInfiniteQuery,
  type UseInfiniteQueryResult,
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { Refused, request, Unreachable } from './request';
import { addEarlier, PAGE, type SolveList, withEarlier } from './solve-list';
import type {
  SolveBody,
  CostReport,
  HeldLimits,
  Me,
  Message,
  PlanRules,
  Solve,
  SolvePage,
  Started,
  Turn,
} from './types';

const RETRY_MS = 1500;

/** Whether to retry: a refusal is final, but an unreachable or failing gateway is retried until it answers. */
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
  turns: (id: string) => ['turns', id],
  cost: (by: string) => ['cost', by],
} as const;

const LIST_MS = 3000;

export function useMe(): UseQueryResult<Me> {
  return useQuery({ queryKey: KEYS.me, queryFn: () => request<Me>('/api/me'), staleTime: 60_000 });
}

/** @param pollMs interval of polls; null: the list is read only if none from the last minute is cached */
export function useSolves(pollMs: number | null = LIST_MS): UseQueryResult<SolveList> {
  const client = useQueryClient();
  return useQuery({
    queryKey: KEYS.solves,
    queryFn: async () => {
      const newest = await request<SolvePage>(`/api/solves?limit=${PAGE}`);
      return withEarlier(client.getQueryData<SolveList>(KEYS.solves), newest);
    },
    ...(pollMs === null ? { staleTime: 60_000 } : { refetchInterval: pollMs }),
  });
}

/** Whether a worker polls for a solve, as far as the list tells: true for one that it does not have. */
export function useIsServed(id: string): boolean {
  const { data } = useSolves(null);
  return data?.runs.find((run) => run.id === id)?.hasWorker !== false;
}

/** Reads one more page of ended solves. */
export function useEarlierSolves(): UseMutationResult<void, Error, SolveList> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ earlier }) => {
      if (earlier === null) return;
      const page = await request<SolvePage>(`/api/solves?limit=${PAGE}&endedBefore=${earlier}`);
      client.setQueryData<SolveList>(KEYS.solves, (now) => now && addEarlier(now, page));
    },
  });
}

/**
 * Reads the ended solves that a list does not reach, page by page, as far as they are sought.
 * @param from where the list ends; null if it is whole @param sought fields of the request; empty for none
 */
export function useFurtherSolves(
  from: string | null,
  sought: string,
): UseInfiniteQueryResult<InfiniteData<SolvePage>> {
  return useInfiniteQuery({
    queryKey: ['further', from, sought],
    queryFn: ({ pageParam }) =>
      request<SolvePage>(`/api/solves?limit=${PAGE}&endedBefore=${pageParam}&${sought}`),
    initialPageParam: from ?? '',
    getNextPageParam: ({ earlier }) => earlier,
    enabled: from !== null && sought !== '',
    staleTime: Infinity,
  });
}

/** Poll interval for a running solve without events. */
const QUIET_MS = 10_000;

export function useSolve(id: string): UseQueryResult<Solve> {
  return useQuery({
    queryKey: KEYS.solve(id),
    queryFn: () => request<Solve>(solvePath(id)),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? QUIET_MS : false),
  });
}

/** Reads the limits of a running solve; polls until there are any. */
export function useLimits(id: string, isRunning: boolean): UseQueryResult<HeldLimits> {
  return useQuery({
    queryKey: KEYS.limits(id),
    queryFn: () => request<HeldLimits>(`${solvePath(id)}/limits`),
    enabled: isRunning,
    refetchInterval: ({ state }) => (state.data === undefined ? LIST_MS : false),
    retry: false,
  });
}

/** Reads until when a plan waits, once it waits: limits that were read before do not tell. @param id id of its run */
export function useApprovalEnd(id: string): UseQueryResult<string | null> {
  return useQuery({
    queryKey: ['approval-end', id],
    queryFn: async () => (await request<HeldLimits>(`${solvePath(id)}/limits`)).approvalEndsAt,
  });
}

/** Reads who may be chosen for a waiting plan. @param id id of the plan's run */
export function usePlanRules(id: string): UseQueryResult<PlanRules> {
  return useQuery({
    queryKey: ['plan-rules', id],
    queryFn: () => request<PlanRules>(`${solvePath(id)}/plan-rules`),
  });
}

/** Reads the messages sent to a step's model. @param id id of the step's run */
export function usePrompt(
  id: string,
  { round, step }: { readonly round: number; readonly step: number },
): UseQueryResult<readonly Message[]> {
  return useQuery({
    queryKey: ['prompt', id, round, step],
    queryFn: () => request<readonly Message[]>(`${solvePath(id)}/prompt?round=${round}&step=${step}`),
    retry: false,
  });
}

/** Reads the Conductor's replies for a round. @param id id of the round's run */
export function useReplies(id: string, round: number): UseQueryResult<readonly string[]> {
  return useQuery({
    queryKey: ['replies', id, round],
    queryFn: () => request<readonly string[]>(`${solvePath(id)}/replies?round=${round}`),
  });
}

/** Reads all turns of a solve's conversation, the question included. */
export function useTurns(id: string): UseQueryResult<readonly Turn[]> {
  return useQuery({
    queryKey: KEYS.turns(id),
    queryFn: () => request<readonly Turn[]>(`${solvePath(id)}/conversation`),
    staleTime: Infinity,
  });
}

/** Poll interval for costs; long, since a ledger may have a million rows. */
const COST_MS = 30_000;

export function useCost(by: string, isShown: boolean): UseQueryResult<CostReport> {
  return useQuery({
    queryKey: KEYS.cost(by),
    queryFn: () => request<CostReport>(`/api/cost?by=${by}`),
    enabled: isShown,
    refetchInterval: COST_MS,
  });
}

export function useAsk(): UseMutationResult<
  Started,
  Error,
  { readonly asked: SolveBody; readonly sentAs: string }
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
