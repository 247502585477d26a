import type { Client } from '@temporalio/client';

type Service = Pick<Client['workflowService'], 'getWorkflowExecutionHistory'>;

interface Polls {
  /** Waits for new events of a run that are under way. */
  open: number;
  /** Most of them at once. */
  most: number;
}

/** Counts how many readers of a connection wait for new events of a run. */
export function countPolls(service: Service): Polls {
  const polls = { open: 0, most: 0 };
  const ask = service.getWorkflowExecutionHistory.bind(service);
  jest.spyOn(service, 'getWorkflowExecutionHistory').mockImplementation((async (
    request: Readonly<Record<string, unknown>>,
  ) => {
    // A wait for the end alone has a filter.
    const isFollowing = request.waitNewEvent === true && request.historyEventFilterType === undefined;
    if (!isFollowing) return ask(request);
    polls.open += 1;
    polls.most = Math.max(polls.most, polls.open);
    return ask(request).finally(() => {
      polls.open -= 1;
    });
  }) as typeof ask);
  return polls;
}
