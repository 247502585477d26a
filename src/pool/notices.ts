import type { Config } from './config-schema';
import { resolveRun } from './resolve-run';
import { unpricedOf } from './unpriced';

/** What a configuration asks for and cannot have, or not yet: one sentence each. */
export function noticesOf(config: Config): string[] {
  return [...aboutCost(config), ...aboutBudget(config)];
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

/** Plans are written by a policy of one's own, so that only the workers' prices count. */
function aboutBudget(config: Config): string[] {
  const costUsd = config.training?.budget.costUsd ?? null;
  const names = unpricedOf(resolveRun(config)).flatMap(({ name, worker }) => (worker === null ? [] : name));
  if (costUsd === null || names.length === 0) return [];
  return [
    `training.budget.costUsd ($${costUsd}) cannot be enforced, since no price is known of ${names.join(', ')}: ` +
      'give each worker a "price:"; training.budget.hours still binds.',
  ];
}
