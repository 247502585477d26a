import { refuseUnrepeatable } from '../../config/tools';
import { ConfigError } from '../../config/errors';
import { isPriced, resolveRun } from '../../config/resolve-run';
import { examplesOf } from './few-shot';
import { nameOfCard, resolveVerifier } from '../../config/cards';
import { durationMs } from '../../config/duration';
import type { TrainableConfig, TrainingConfig } from './schema';
import type { ModelCard, ResolvedRun, RunLimits } from '../../protocol/cards';
import type { PolicySettings, RewardSettings } from '../inputs';
import type { TrainerConfig } from '../trainer-contract';

/** @throws ConfigError if the configuration has no `training:` */
export function trainingOf({ training }: TrainableConfig): TrainingConfig {
  if (training !== undefined) return training;
  throw new ConfigError(
    'the configuration has no "training:": have it written with "temporal-conductor train init"',
  );
}

/** Resolves a night's settings, with limits per group. @throws ConfigError, also if the pool does not allow them */
export function resolveTraining(
  config: TrainableConfig,
  options: { readonly trainRun?: string; readonly cycles?: number } = {},
): TrainingSettings {
  const training = trainingOf(config);
  const run = resolveRun(config);
  checkPool(training, run);
  refuseUnrepeatable(run, 'a night');
  const verifier = resolveVerifier(config, new Date());
  const { questions, slots, temperature, budget } = training;
  const { unparseable, parseable, correct, costWeight, lengthWeight } = training.reward;
  const { timeout, patience, baseUrl, prompt, describe, access } = training.policy;
  const { servingTemperature, maxPromptTokens, maxOutputTokens } = training.policy;
  const tolerance = TOLERANCE[training.trainer.device];
  return {
    ...training,
    trainRun: options.trainRun ?? training.run,
    cycles: options.cycles ?? training.cycles,
    maxDraws: training.maxDraws ?? 2 * questions,
    reward: { unparseable, parseable, correct, costWeight, lengthWeight },
    policy: {
      baseUrl,
      prompt,
      describe,
      access,
      servingTemperature,
      maxPromptTokens,
      maxOutputTokens,
      examples: examplesOf(training.policy),
      subtasks: training.plan.subtasks,
      ...thinkingOf(training),
      temperature,
      timeoutMs: durationMs(timeout),
      patienceMs: durationMs(patience),
    },
    tolerance: {
      probe: training.tolerance.probe ?? tolerance.probe,
      canary: training.tolerance.canary ?? tolerance.canary,
    },
    budget: {
      nanoUsd: budget.costUsd === null ? null : Math.round(budget.costUsd * 1e9),
      wallClockMs: Math.round(budget.hours * 3_600_000),
    },
    trainer: resolveTrainer(training),
    ...(verifier !== null && { verifier }),
    run: {
      ...run,
      queuePerProvider: run.queuePerProvider && slots === null,
      limits: groupLimits(run.limits, training),
    },
  };
}

/** Each imitating cycle has its own schedule; the optimizer's covers the reward updates after them. */
function resolveTrainer(training: TrainingConfig): TrainingSettings['trainer'] {
  const { seed, questions, groupSize, recursion, temperature, reward, policy, imitation } = training;
  const { optimizer, ...trainer } = training.trainer;
  const updates = training.totalCycles - (imitation?.cycles ?? 0);
  return {
    ...trainer,
    seed,
    optimizer: { ...optimizer, totalSteps: updates * trainer.iterations * trainer.minibatches },
    scale: reward.scale,
    maxAdvantage: reward.maxAdvantage,
    rollouts: questions * groupSize * recursion.rounds,
    groupSize,
    temperature,
    maxPromptTokens: policy.maxPromptTokens,
    maxCompletionTokens: policy.maxOutputTokens,
    ...thinkingOf(training),
  };
}

/** Names nothing if the policy does not think, so that runs of earlier versions go on. */
function thinkingOf({ policy: { thinking } }: TrainingConfig): Pick<PolicySettings, 'thinking'> {
  return thinking === 'off' ? {} : { thinking };
}

/**
 * Tolerated log-probability differences from the trainer: the largest on the probe, the mean on a canary. A GPU
 * differed in bfloat16 by up to 0.25 and 0.05 with equal weights, by 1.1 to 7.7 with others; in float32 by 1.5e-4.
 */
const TOLERANCE = { cpu: { probe: 1e-4, canary: 1e-3 }, cuda: { probe: 0.5, canary: 0.1 } } as const;

function checkPool({ pool, reward }: TrainingConfig, run: ResolvedRun): void {
  const ids = run.workers.map(({ id }) => id);
  if (pool.adaptive && pool.least > ids.length) {
    throw new ConfigError(
      `training.pool.least is ${pool.least}, and there are ${ids.length} workers: lower it`,
    );
  }
  for (const team of pool.heldOut) checkHeldOut(team, ids);
  const unpriced = run.workers.find((worker) => !isPriced(worker));
  if (reward.costWeight > 0 && unpriced !== undefined) {
    throw new ConfigError(
      `training.reward.costWeight is ${reward.costWeight}, and ${nameOfCard(unpriced)} has no known price: ` +
        'give it a "price:", take it out of the pool, or leave the cost out of the reward',
    );
  }
}

function checkHeldOut(team: readonly string[], ids: readonly string[]): void {
  const held = `training.pool.heldOut holds back [${team.join(', ')}]`;
  const unknown = team.find((id) => !ids.includes(id));
  if (unknown !== undefined) {
    throw new ConfigError(`${held}, and there is no worker ${unknown}: there are ${ids.join(', ')}`);
  }
  if (ids.every((id) => team.includes(id))) {
    throw new ConfigError(`${held}, which are all workers: leave one out, or take the team off the list`);
  }
}

/** Rollouts run `window` at a time, so a group gets the time of ceil(rollouts / window) consecutive rollouts. */
function groupLimits(limits: RunLimits, { groupSize, window, recursion, gate }: TrainingConfig): RunLimits {
  const rollouts = Math.max(groupSize, gate.samples) * recursion.rounds;
  const times = (limit: number | null): number | null => (limit === null ? null : limit * rollouts);
  return {
    ...limits,
    depth: 0,
    calls: limits.calls * rollouts,
    tokens: times(limits.tokens),
    nanoUsd: times(limits.nanoUsd),
    wallClockMs: limits.wallClockMs * Math.ceil(rollouts / window),
  };
}

type Resolved = 'run' | 'maxDraws' | 'reward' | 'policy' | 'budget' | 'tolerance' | 'trainer';

/** Settings of one night, resolved from `conductor.yaml`, its profile and the command. */
export interface TrainingSettings extends Omit<TrainingConfig, Resolved> {
  readonly trainRun: string;
  readonly maxDraws: number;
  readonly reward: RewardSettings;
  readonly policy: PolicySettings;
  readonly budget: { readonly nanoUsd: number | null; readonly wallClockMs: number };
  readonly tolerance: { readonly probe: number; readonly canary: number };
  readonly trainer: TrainerConfig & { readonly taskQueue: string };
  /** `limits` apply to one group; `conductor` is the gate's baseline until a checkpoint serves. */
  readonly run: ResolvedRun;
  readonly verifier?: ModelCard;
}
