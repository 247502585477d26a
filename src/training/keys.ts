import type { CheckpointRef } from './checkpoint-ref';
import type { GroupId } from './rollout';

// Where training keeps what. Every key is a place in the store; see `store/store.ts` for what a key may be made of.

/** The checkpoint that answers now, and those before it. */
export const SERVING_KEY = 'training/serving.json';

/** A set of questions, one a line. Like the two below, it is named by the SHA-256 of its bytes. */
export function questionSetKey(sha256: string): string {
  return `questions/${sha256}.jsonl`;
}

/** Prompts and replies to imitate, one a line. */
export function examplesKey(sha256: string): string {
  return `examples/${sha256}.jsonl`;
}

/** Texts that a tokenizer is made from, one a line. */
export function tokenizerTextsKey(sha256: string): string {
  return `tokenizer-texts/${sha256}.jsonl`;
}

/** All training runs lie below. */
export const TRAINING_FOLDER = 'training/';

function runFolder(trainRun: string): string {
  return `${TRAINING_FOLDER}${trainRun}/`;
}

export function runKey(trainRun: string): string {
  return `${runFolder(trainRun)}run.json`;
}

/** Of each night its record, and beside it what its judges decided. */
export function nightsFolder(trainRun: string): string {
  return `${runFolder(trainRun)}nights/`;
}

/** @param date local calendar date, e.g. `2026-11-21` */
export function nightKey(trainRun: string, date: string): string {
  return `${nightsFolder(trainRun)}${date}.json`;
}

/** Whose record lies under a key: a training run's, or with a date a night's. null for every other key. */
export function readRecordKey(
  key: string,
): { readonly trainRun: string; readonly date: string | null } | null {
  const [, trainRun, date] = /^training\/([^/]+)\/(?:run|nights\/(\d{4}-\d\d-\d\d))\.json$/.exec(key) ?? [];
  return trainRun === undefined ? null : { trainRun, date: date ?? null };
}

/** Why a night's candidate serves, or does not. */
export function gateKey(trainRun: string, date: string): string {
  return `${nightsFolder(trainRun)}${date}-gate.json`;
}

/** Whether a checkpoint that was promoted in that night was taken back, and why. */
export function canaryKey(trainRun: string, date: string): string {
  return `${nightsFolder(trainRun)}${date}-canary.json`;
}

/** The manifests of a run's checkpoints, and nothing else. */
export function checkpointsFolder(trainRun: string): string {
  return `${runFolder(trainRun)}checkpoints/`;
}

/** @param name of the checkpoint in its run: `base`, `warm`, or its cycle as six digits */
export function manifestKey(trainRun: string, name: string): string {
  return `${checkpointsFolder(trainRun)}${name}.json`;
}

function cycleFolder(trainRun: string, cycle: number): string {
  return `${runFolder(trainRun)}cycles/${cycleName(cycle)}/`;
}

/** The groups of a cycle to learn from, and nothing else. */
export function groupsFolder(trainRun: string, cycle: number): string {
  return `${cycleFolder(trainRun, cycle)}groups/`;
}

export function groupKey(trainRun: string, cycle: number, draw: number, round: number): string {
  return `${groupsFolder(trainRun, cycle)}${sixDigits(draw)}-${round}.json`;
}

interface Round extends Omit<GroupId, 'question'> {
  readonly round: number;
}

/**
 * A group in which a policy was tried, apart from those to learn from: several policies are tried on the same draws.
 *
 * @param trial its checkpoint is null for the prompted Conductor
 */
export function trialKey(trial: Round & { readonly checkpoint: CheckpointRef | null }): string {
  const { purpose, trainRun, cycle, draw, round, checkpoint } = trial;
  const policy = checkpoint === null ? 'prompted' : `${checkpoint.trainRun}/${checkpoint.name}`;
  return `${cycleFolder(trainRun, cycle)}trials/${purpose}/${policy}/${sixDigits(draw)}-${round}.json`;
}

/** A group's samples. Those of an evaluation lie apart by checkpoint: several are tried on the same draws. */
export function samplesKey(group: Round & { readonly checkpoint: CheckpointRef }): string {
  const { purpose, trainRun, cycle, draw, round, checkpoint } = group;
  const apart = purpose === 'training' ? '' : `${purpose}/${checkpoint.trainRun}/${checkpoint.name}/`;
  return `${cycleFolder(trainRun, cycle)}samples/${apart}${sixDigits(draw)}-${round}.json`;
}

export function batchKey(trainRun: string, cycle: number): string {
  return `${cycleFolder(trainRun, cycle)}batch.jsonl.gz`;
}

/** The metrics of all cycles of a run, and nothing else. */
export function metricsFolder(trainRun: string): string {
  return `${runFolder(trainRun)}metrics/`;
}

export function metricsKey(trainRun: string, cycle: number): string {
  return `${metricsFolder(trainRun)}${cycleName(cycle)}.json`;
}

/** Name of the checkpoint that a cycle's update makes. */
export function cycleName(cycle: number): string {
  return sixDigits(cycle);
}

/** Names of numbers, so that they sort as the numbers do. */
export function sixDigits(number: number): string {
  return String(number).padStart(6, '0');
}
