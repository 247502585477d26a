/** What a policy server answered: a body that is not looked into yet, or a status other than 2xx with its reason. */
export type Answer =
  | { readonly ok: true; readonly body: string }
  | { readonly ok: false; readonly status: number; readonly reason: string };

/** An answer other than 2xx. */
export type Refusal = Extract<Answer, { ok: false }>;
