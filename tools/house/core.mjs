// Files that a reader needs to understand a solve, bottom up: each file after those that it builds on.

/** What the core may be, so that it can be read in an afternoon. */
export const MOST_OF_THE_CORE = { files: 50, lines: 6_800 };

export const CORE = [
  // The plan language.
  'errors.ts',
  'plan/plan.ts',
  'plan/validate.ts',
  'plan/parse.ts',
  'plan/prompt/conductor.ts',
  'plan/prompt/worker.ts',
  // What crosses the wire.
  'protocol/names.ts',
  'protocol/text.ts',
  'protocol/solve.ts',
  'protocol/input.ts',
  'protocol/cards.ts',
  'protocol/failures.ts',
  'protocol/messages.ts',
  'protocol/planning.ts',
  'protocol/activity-contract.ts',
  // The trace, which is all that is known of a run.
  'trace/events.ts',
  'trace/rounds.ts',
  'trace/reduce.ts',
  'trace/run-tree.ts',
  // Limits.
  'budget/amount.ts',
  'budget/account.ts',
  'budget/worst-case.ts',
  // The run.
  'workflows/index.ts',
  'workflows/solve.ts',
  'workflows/run-context.ts',
  'workflows/open-run.ts',
  'workflows/make-plan.ts',
  'workflows/run-plan.ts',
  'workflows/run-step.ts',
  'workflows/child.ts',
  'workflows/limits.ts',
  'workflows/steering.ts',
  'workflows/listen.ts',
  'workflows/activities.ts',
  'workflows/failures.ts',
  // The calls.
  'activities/index.ts',
  'activities/write-plan.ts',
  'activities/call-worker.ts',
  'activities/durable-call.ts',
  'activities/send-request.ts',
  'activities/models/model.ts',
  'activities/models/failure.ts',
  'activities/as-failure.ts',
  'activities/ledger-row.ts',
  'store/store.ts',
  'store/texts.ts',
  'store/ledger.ts',
  // The end that a user holds.
  'client/launch-solve.ts',
  'client/conductor-client.ts',
];
