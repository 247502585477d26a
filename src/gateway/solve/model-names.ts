import type { Config } from '../../config/schema';
import type { LimitsInput, SolveInput } from '../../protocol/input';
import { standInPlan } from '../../protocol/planning';
import { readCheckpointId } from '../../training/names';
import { allowsModel, type Key } from '../access/keys';
import { Refusal } from '../refusal';

/** Meaning of a model's name: the Conductor that writes the plan, or a plan of one worker. */
export interface ModelChoice extends Pick<SolveInput, 'pool' | 'given' | 'conductor'> {
  readonly limits: LimitsInput;
}

export const CONDUCTOR_MODEL = 'conductor';
const CHECKPOINT = /^conductor\/(.+)$/;
const WORKER = /^worker\/(.+)$/;

/** Returns the model names that a key may use, except those of checkpoints, which are not listed. */
export function modelNames({ workers }: Config, key: Key): string[] {
  const names = [CONDUCTOR_MODEL, ...workers.map(({ id }) => `worker/${id}`)];
  return names.filter((name) => allowsModel(key, name));
}

/** @throws Refusal if the model does not exist or the key may not use it */
export function readModel(name: string, key: Key, config: Config): ModelChoice {
  const choice = allowsModel(key, name) ? choiceOf(name, config) : null;
  if (choice !== null) return choice;
  const known = modelNames(config, key).join(', ');
  const shown = JSON.stringify(name.slice(0, 100));
  throw new Refusal(404, `this key has no model ${shown}: choose one of ${known}`, {
    reason: 'model_not_found',
    param: 'model',
  });
}

function choiceOf(name: string, config: Config): ModelChoice | null {
  if (name === CONDUCTOR_MODEL) return { limits: {} };
  const checkpoint = CHECKPOINT.exec(name)?.[1];
  if (checkpoint !== undefined) {
    return readCheckpointId(checkpoint) === null ? null : { conductor: { checkpoint }, limits: {} };
  }
  const named = WORKER.exec(name)?.[1];
  const worker = config.workers.find(({ id }) => id === named);
  if (worker === undefined) return null;
  const given = { plan: standInPlan({ workers: [worker] }), outputs: [null] };
  return { pool: { allow: [worker.id] }, given, limits: { depth: 0 } };
}
