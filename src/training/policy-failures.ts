/**
 * What can go wrong between us and a policy server while training, as failure types with who tries again. Nothing of it
 * is ever billed, so that whatever may pass by itself is left to Temporal.
 */
export const POLICY_FAILURES = {
  /** No connection, a broken one, no answer in time, 408, 429, 5xx. Temporal, with back-off. */
  unavailable: 'Policy.Unavailable',
  /** The server does not know the checkpoint and could not load it. Nobody. */
  unknownModel: 'Policy.UnknownModel',
  /** The server refused the request: a longer context than it has, an option that it lacks. Nobody. */
  rejected: 'Policy.Rejected',
  /** An answer that is none: no JSON, missing tokens, log-probabilities that are no numbers. Nobody. */
  badReply: 'Policy.BadReply',
  /** The prompt has more tokens than the checkpoint is to be given. Nobody. */
  promptTooLong: 'Policy.PromptTooLong',
  /** The store holds no manifest of the checkpoint. Nobody. */
  noManifest: 'Policy.NoManifest',
} as const;

export type PolicyFailureType = (typeof POLICY_FAILURES)[keyof typeof POLICY_FAILURES];
