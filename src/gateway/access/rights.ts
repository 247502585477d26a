import { NotAllowedError } from '../../client';
import { resolveRun } from '../../config/resolve-run';
import type { Config } from '../../config/schema';
import type { Rights, SolveInput } from '../../protocol/input';
import type { Sender } from '../../protocol/messages';
import { findLimitExcess } from '../../protocol/rights';
import type { Key } from './keys';

/** Whether a key is an operator's: an admin key whose models and budget are not limited. */
export function isOperators({
  isAdmin,
  models,
  usdPerDay,
}: Pick<Key, 'isAdmin' | 'models' | 'usdPerDay'>): boolean {
  return isAdmin && models === null && usdPerDay === null;
}

/** Returns what a key may use, which its runs hold; undefined for an operator's key, which nothing binds. */
export function rightsOf(key: Parameters<typeof isOperators>[0], config: Config): Rights | undefined {
  return isOperators(key) ? undefined : { models: key.models, limits: resolveRun(config).limits };
}

export function senderOf(key: Key): Sender {
  return { asOperator: isOperators(key), name: key.name };
}

/** Checks the limits that a request names, before anything starts. @throws NotAllowedError for one that its key may not set */
export function refuseExcess(
  config: Config,
  { limits, rights }: Pick<SolveInput, 'limits' | 'rights'>,
): void {
  if (rights === undefined) return;
  const problem = findLimitExcess(resolveRun(config, { limits }).limits, rights.limits);
  if (problem !== null) throw new NotAllowedError(problem);
}
