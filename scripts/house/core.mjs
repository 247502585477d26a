// Files that a reader needs to understand a solve, in reading order: question → plan → steps → calls → answer.

/** What the core may be, so that it can be read in an afternoon. */
export const MOST_OF_THE_CORE = { files: 50, lines: 6_800 };

export const CORE = [
  // The plan language.
  'errors.ts',
  'plan/plan.ts',
  'plan/plan-error.ts',
  'plan/validate.ts',
  'plan/parse.ts',
  'plan/prompt/conductor.ts',
  'plan/prompt/worker.ts',
  // What crosses the wire.
  'protocol/names.ts',
  'protocol/text.ts',
  'protocol/failures.ts',
  'protocol/messages.ts',
  'protocol/planning.ts',
  // The trace, which is all that is known of a run.
  'trace/events.ts',
  'trace/reduce.ts',
  'trace/describe.ts',
  'trace/run-tree.ts',
  // Limits.
  'budget/amount.ts',
  'budget/nano-usd.ts',
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
  'workflows/key-rights.ts',
  'workflows/payload-budget.ts',
  'workflows/activities.ts',
  'workflows/failures.ts',
  // The calls.
  'activities/index.ts',
  'activities/write-plan.ts',
  'activities/call-worker.ts',
  'activities/call-model.ts',
  'activities/model-call.ts',
  'activities/models/model.ts',
  'activities/models/failure.ts',
  'activities/as-failure.ts',
  'activities/heartbeat.ts',
  'activities/ledger-row.ts',
  'store/store.ts',
  'store/texts.ts',
  'store/ledger.ts',
  // The ends that a user holds.
  'client/conductor-client.ts',
  'plugin.ts',
];
