import type { Config } from './config-schema';
import { resolveRun } from './resolve-run';
import { unpricedOf } from './unpriced';

/** What a configuration asks for and cannot have, or not yet: one sentence each. */
export function noticesOf(config: Config): string[] {
  return aboutCost(config);
}

/** Calls, tokens and time bind all the same, so a run need not be refused for it. */
function aboutCost(config: Config): string[] {
  const { costUsd } = config.limits;
  const names = unpricedOf(resolveRun(config)).map(({ name }) => name);
  if (costUsd === null || names.length === 0) return [];
  return [
    `limits.costUsd ($${costUsd}) cannot be enforced, since no price is known of ${names.join(', ')}: ` +
      'give each model a "price:"; calls and tokens still bind.',
  ];
}
