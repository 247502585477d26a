import type { CheckpointRef } from './checkpoint-ref';
import type { GroupId } from './rollout';

// Where training keeps what. Every key is a place in the store; see `store/store.ts` for what a key may be made of.

/** Names of numbers, so that they sort as the numbers do. */
export const sixDigits = (number: number): string => String(number).padStart(6, '0');

/** Name of the checkpoint that a cycle's update makes. */
export const cycleName = (cycle: number): string => sixDigits(cycle);

/** Questions, prompts with replies to imitate, texts for a tokenizer: JSON lines under the SHA-256 of their bytes. */
export const questionSetKey = (sha256: string): string => `questions/${sha256}.jsonl`;
export const examplesKey = (sha256: string): string => `examples/${sha256}.jsonl`;
export const tokenizerTextsKey = (sha256: string): string => `tokenizer-texts/${sha256}.jsonl`;

/** All training runs lie below. */
export const TRAINING_FOLDER = 'training/';
/** The checkpoint that answers now, and those before it. */
export const SERVING_KEY = `${TRAINING_FOLDER}serving.json`;

const runFolder = (trainRun: string): string => `${TRAINING_FOLDER}${trainRun}/`;
export const runKey = (trainRun: string): string => `${runFolder(trainRun)}run.json`;

/** Of each night, by its local calendar date: its record, and beside it what its judges decided. */
export const nightsFolder = (trainRun: string): string => `${runFolder(trainRun)}nights/`;
export const nightKey = (trainRun: string, date: string): string => `${nightsFolder(trainRun)}${date}.json`;
/** Why a night's candidate serves, or does not. */
export const gateKey = (trainRun: string, date: string): string =>
  `${nightsFolder(trainRun)}${date}-gate.json`;
/** Whether a checkpoint that was promoted in that night was taken back, and why. */
export const canaryKey = (trainRun: string, date: string): string =>
  `${nightsFolder(trainRun)}${date}-canary.json`;

/** The manifests of a run's checkpoints, and nothing else. */
export const checkpointsFolder = (trainRun: string): string => `${runFolder(trainRun)}checkpoints/`;
export const manifestKey = (trainRun: string, name: string): string =>
  `${checkpointsFolder(trainRun)}${name}.json`;

/** The metrics of all cycles of a run, and nothing else. */
export const metricsFolder = (trainRun: string): string => `${runFolder(trainRun)}metrics/`;
export const metricsKey = (trainRun: string, cycle: number): string =>
  `${metricsFolder(trainRun)}${cycleName(cycle)}.json`;

const cycleFolder = (trainRun: string, cycle: number): string =>
  `${runFolder(trainRun)}cycles/${cycleName(cycle)}/`;
export const batchKey = (trainRun: string, cycle: number): string =>
  `${cycleFolder(trainRun, cycle)}batch.jsonl.gz`;

/** The groups of a cycle to learn from, and nothing else. */
export const groupsFolder = (trainRun: string, cycle: number): string =>
  `${cycleFolder(trainRun, cycle)}groups/`;
export const groupKey = (trainRun: string, cycle: number, draw: number, round: number): string =>
  `${groupsFolder(trainRun, cycle)}${sixDigits(draw)}-${round}.json`;

type Round = Omit<GroupId, 'question'> & { readonly round: number };

/** A group in which a policy was tried (null: the prompted Conductor): several are tried on the same draws. */
export function trialKey(trial: Round & { readonly checkpoint: CheckpointRef | null }): string {
  const { purpose, trainRun, cycle, draw, round, checkpoint } = trial;
  const policy = checkpoint === null ? 'prompted' : `${checkpoint.trainRun}/${checkpoint.name}`;
  return `${cycleFolder(trainRun, cycle)}trials/${purpose}/${policy}/${sixDigits(draw)}-${round}.json`;
}

/** A group's samples. Those of an evaluation lie apart by checkpoint, like its groups. */
export function samplesKey(group: Round & { readonly checkpoint: CheckpointRef }): string {
  const { purpose, trainRun, cycle, draw, round, checkpoint } = group;
  const apart = purpose === 'training' ? '' : `${purpose}/${checkpoint.trainRun}/${checkpoint.name}/`;
  return `${cycleFolder(trainRun, cycle)}samples/${apart}${sixDigits(draw)}-${round}.json`;
}

/** Whose record lies under a key: a training run's, or with a date a night's. null for every other key. */
export function readRecordKey(
  key: string,
): { readonly trainRun: string; readonly date: string | null } | null {
  const [, trainRun, date] = /^training\/([^/]+)\/(?:run|nights\/(\d{4}-\d\d-\d\d))\.json$/.exec(key) ?? [];
  return trainRun === undefined ? null : { trainRun, date: date ?? null };
}
