import type { CycleMetrics } from '../../../src/training/records';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Me = Schemas['Me'];
export type SolveBody = Schemas['SolveRequest'];
export type Started = Schemas['Started'];
export type ListedSolve = Schemas['ListedSolve'];
export type Solve = Schemas['SolveResult'];
export type Round = Solve['rounds'][number];
export type StepResult = Round['steps'][number];
export type HeldLimits = Schemas['HeldLimits'];
export type PlanRules = Schemas['PlanRules'];
export type Night = Omit<Schemas['Night'], 'cycles'> & { readonly cycles: readonly CycleMetrics[] };
export type JudgedNight = Schemas['JudgedNight'];
export type CycleGroup = Schemas['Cycle']['groups'][number];
export type ListedEvaluation = Schemas['ListedEvaluation'];
export type Serving = Schemas['Serving'];
export type CostLine = Schemas['CostLine'];

export interface TrainRun {
  readonly trainRun: string;
  readonly nights: readonly Night[];
}

export interface SolvePage {
  readonly runs: readonly ListedSolve[];
  readonly unlisted: number;
  /** Where to look for earlier ones; null if there are none. */
  readonly earlier: string | null;
}

/** Message sent to a model. */
export interface Message {
  readonly role: Turn['role'];
  readonly text: string;
}

export interface Turn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface CostReport {
  readonly lines: readonly CostLine[];
  readonly total: CostLine;
}

export interface Cycle {
  /** Null while the cycle runs. */
  readonly metrics: CycleMetrics | null;
  readonly groups: readonly CycleGroup[];
}
