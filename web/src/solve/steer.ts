import { useMutation, type UseMutationResult, useQueryClient } from '@tanstack/react-query';
import { KEYS, solvePath } from '../api/queries';
import { request } from '../api/request';

export interface Order {
  readonly verb:
    'approve' | 'edit' | 'reject' | 'decide-call' | 'hint' | 'depth' | 'limits' | 'cancel' | 'retry';
  readonly body?: object;
}

/** Steers the run `id`, which may be a waiting child; then reads the shown solve and the list again, even after an error. */
export function useSteer<Answer = unknown>(
  id: string,
  shownId = id,
): UseMutationResult<Answer, Error, Order> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ verb, body = {} }: Order) =>
      request<Answer>(`${solvePath(id)}/${verb}`, { method: 'POST', body }),
    onSettled: (answer, _, { verb }) => {
      if (verb === 'limits' && answer !== undefined) client.setQueryData(KEYS.limits(shownId), answer);
      // The badge counts what still waits.
      void client.invalidateQueries({ queryKey: KEYS.solves });
      return client.invalidateQueries({ queryKey: KEYS.solve(shownId) });
    },
  });
}
