import { kilobytes } from './numbers.mjs';

/**
 * Weighs what a run and each of its children leave in Temporal: events, history bytes, Actions. The run comes first.
 * The figures are exact on any machine.
 */
export async function weigh(client, id, startActions = 1) {
  const handle = client.workflow.getHandle(id);
  const { events = [] } = await handle.fetchHistory();
  const { historySize } = await handle.describe();
  const own = { events: events.length, bytes: historySize, actions: startActions + actionsIn(events) };
  const below = await Promise.all(childrenIn(events).map((childId) => weigh(client, childId, 2)));
  return [own, ...below.flat()];
}

/** Describes how much more one run leaves than another, children included. */
export function describeDifference(more, less) {
  const added = (name) => sum(more, name) - sum(less, name);
  const own = more[0].events - less[0].events;
  const events = own === added('events') ? `${own}` : `${added('events')} (${own} in the parent)`;
  return `events ${events}, Actions ${added('actions')}, history ${kilobytes(added('bytes'))}`;
}

/**
 * Counts the Actions that Temporal Cloud bills after the start (which is one Action, two for a child): activity
 * attempts, signals, timers. Heartbeats are billed too, but leave no event.
 */
function actionsIn(events) {
  return events.reduce((actions, event) => {
    const isOne = event.workflowExecutionSignaledEventAttributes ?? event.timerStartedEventAttributes;
    return actions + (event.activityTaskStartedEventAttributes?.attempt ?? (isOne ? 1 : 0));
  }, 0);
}

/** Returns the workflow ids of the children that a run started. */
export function childrenIn(events) {
  return events.flatMap(
    (event) => event.childWorkflowExecutionStartedEventAttributes?.workflowExecution?.workflowId ?? [],
  );
}

const sum = (weights, name) => weights.reduce((total, weight) => total + weight[name], 0);
