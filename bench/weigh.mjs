import { kilobytes } from './numbers.mjs';

/**
 * What a run leaves in Temporal, and each child below it: events, bytes of history, Actions. The run comes first. Exact,
 * whatever the machine.
 */
export async function weigh(client, id, startActions = 1) {
  const handle = client.workflow.getHandle(id);
  const { events = [] } = await handle.fetchHistory();
  const { historySize } = await handle.describe();
  const own = { events: events.length, bytes: historySize, actions: startActions + actionsIn(events) };
  const below = await Promise.all(childrenIn(events).map((childId) => weigh(client, childId, 2)));
  return [own, ...below.flat()];
}

/** Describes how much more one run has than another, children included. */
export function describeDifference(more, less) {
  const added = (name) => sum(more, name) - sum(less, name);
  const own = more[0].events - less[0].events;
  const events = own === added('events') ? `${own}` : `${added('events')} (${own} in the parent)`;
  return `events ${events}, Actions ${added('actions')}, history ${kilobytes(added('bytes'))}`;
}

/**
 * What Temporal Cloud bills beside the start, which is one Action, a child's two: an attempt of an activity, a signal, a
 * timer. Heartbeats are billed as well and leave no event.
 */
function actionsIn(events) {
  return events.reduce((actions, event) => {
    const isOne = event.workflowExecutionSignaledEventAttributes ?? event.timerStartedEventAttributes;
    return actions + (event.activityTaskStartedEventAttributes?.attempt ?? (isOne ? 1 : 0));
  }, 0);
}

/** Workflow ids of the children that a run has started. */
export function childrenIn(events) {
  return events.flatMap(
    (event) => event.childWorkflowExecutionStartedEventAttributes?.workflowExecution?.workflowId ?? [],
  );
}

const sum = (weights, name) => weights.reduce((total, weight) => total + weight[name], 0);
