import type { ModelCard } from '../protocol/cards';
import type { ResolvedRun, RunLimits } from '../protocol/run';
import type { TrainingConfig } from './config/schema';
import type { TrainerConfig } from './trainer-contract';

export type RewardSettings = Omit<TrainingConfig['reward'], 'scale'>;

/** How plans are asked for while training; a checkpoint's manifest repeats what serving must know of it. */
export interface PolicySettings extends Omit<TrainingConfig['policy'], 'timeout' | 'patience'> {
  readonly temperature: number;
  readonly timeoutMs: number;
  readonly patienceMs: number;
}

/** Settings by which a night publishes a checkpoint. */
export interface PublishSettings {
  readonly policy: PolicySettings;
  readonly trainer: Pick<TrainingSettings['trainer'], 'taskQueue' | 'device'>;
  readonly budget: Pick<TrainingSettings['budget'], 'wallClockMs'>;
  readonly tolerance: Pick<TrainingSettings['tolerance'], 'probe'>;
  readonly run: Pick<ResolvedRun, 'heartbeatMs'> & { readonly limits: Pick<RunLimits, 'steps'> };
}

/** Settings of a night that are as they were configured. */
type Numbers =
  'seed' | 'questions' | 'groupSize' | 'cycles' | 'window' | 'slots' | 'evaluateEvery' | 'continueFrom';
type Sections = 'pool' | 'recursion' | 'gate' | 'keep';

/** Everything that holds for one night, resolved from `conductor.yaml`, its profile and the command. */
export interface TrainingSettings extends Pick<TrainingConfig, Numbers | Sections> {
  readonly trainRun: string;
  readonly staleness: TrainingConfig['staleness'];
  readonly maxDraws: number;
  readonly reward: RewardSettings;
  readonly policy: PolicySettings;
  readonly budget: { readonly nanoUsd: number | null; readonly wallClockMs: number };
  readonly tolerance: { readonly probe: number; readonly canary: number };
  readonly trainer: TrainerConfig & { readonly taskQueue: string };
  /**
   * What a run resolves: `run.limits` are those of one group, `run.conductor` is the Conductor that a candidate must beat
   * where no checkpoint serves yet.
   */
  readonly run: ResolvedRun;
  /** Judges answers that rules do not take for right; absent where none is configured. */
  readonly verifier?: ModelCard;
}
