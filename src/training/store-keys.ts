import { checkpointId, type CheckpointRef, readCheckpointId, sixDigits } from './names';
import type { GroupId } from './records';

// Keys in the store and among the artifacts; see `store/store.ts` for the characters of a key.

export const examplesKey = (sha256: string): string => `examples/${sha256}.jsonl`;
export const tokenizerTextsKey = (sha256: string): string => `tokenizer-texts/${sha256}.jsonl`;

export const TRAINING_FOLDER = 'training/';
export const SERVING_KEY = `${TRAINING_FOLDER}serving.json`;

const runFolder = (trainRun: string): string => `${TRAINING_FOLDER}${trainRun}/`;
export const runKey = (trainRun: string): string => `${runFolder(trainRun)}run.json`;

export const nightsFolder = (trainRun: string): string => `${runFolder(trainRun)}nights/`;

/** Key of a night's record, or of a file beside it. */
const ofNight =
  (end: string) =>
  (trainRun: string, date: string): string =>
    `${nightsFolder(trainRun)}${date}${end}`;
export const nightKey = ofNight('.json');
export const gateKey = ofNight('-gate.json');
export const canaryKey = ofNight('-canary.json');
export const canaryBatchKey = ofNight('-canary.jsonl.gz');

export const checkpointsFolder = (trainRun: string): string => `${runFolder(trainRun)}checkpoints/`;
export const manifestKey = (trainRun: string, name: string): string =>
  `${checkpointsFolder(trainRun)}${name}.json`;

/** Folder of the trainer's lists of each checkpoint's files; nothing else is in it. */
export const weightsFolder = (trainRun: string): string => `${runFolder(trainRun)}weights/`;
export const weightsKey = (trainRun: string, name: string): string =>
  `${weightsFolder(trainRun)}${name}.json`;
export const isWeightsKey = (key: string): boolean => /^training\/[^/]+\/weights\/[^/]+\.json$/.test(key);

export const WEIGHTS_FOLDER = 'weights/';

/** Folder of unfinished writes, including those of killed writers. */
export const UNFINISHED_FOLDER = 'unfinished/';

export const metricsFolder = (trainRun: string): string => `${runFolder(trainRun)}metrics/`;
export const metricsKey = (trainRun: string, cycle: number): string =>
  `${metricsFolder(trainRun)}${sixDigits(cycle)}.json`;

const cycleFolder = (trainRun: string, cycle: number): string =>
  `${runFolder(trainRun)}cycles/${sixDigits(cycle)}/`;
export const batchKey = (trainRun: string, cycle: number): string =>
  `${cycleFolder(trainRun, cycle)}batch.jsonl.gz`;
/** Right plans that the policy wrote in a cycle, for this and later cycles to imitate. */
export const rightPlansKey = (trainRun: string, cycle: number): string =>
  `${cycleFolder(trainRun, cycle)}right.json`;
export const cycleExamplesKey = (trainRun: string, cycle: number): string =>
  `${cycleFolder(trainRun, cycle)}examples.jsonl`;

export const groupsFolder = (trainRun: string, cycle: number): string =>
  `${cycleFolder(trainRun, cycle)}groups/`;

type Round = Omit<GroupId, 'question'> & { readonly round: number };

const roundFile = ({ draw, round }: Round): string => `${sixDigits(draw)}-${round}.json`;

/** Returns a group's key. Trials have a folder per policy, since several policies are tried on the same draws. */
export function groupKey(group: Round & { readonly checkpoint: string }): string {
  const { purpose, trainRun, cycle, checkpoint } = group;
  if (purpose === 'training') return groupsFolder(trainRun, cycle) + roundFile(group);
  if (purpose === 'examples') return `${runFolder(trainRun)}examples/${roundFile(group)}`;
  const policy = readCheckpointId(checkpoint) === null ? 'prompted' : checkpoint;
  return `${cycleFolder(trainRun, cycle)}trials/${purpose}/${policy}/${roundFile(group)}`;
}

export function samplesKey(group: Round & { readonly checkpoint: CheckpointRef }): string {
  const { purpose, trainRun, cycle, checkpoint } = group;
  const apart = purpose === 'training' ? '' : `${purpose}/${checkpointId(checkpoint)}/`;
  return `${cycleFolder(trainRun, cycle)}samples/${apart}${roundFile(group)}`;
}

export const isGateKey = (key: string): boolean => /^training\/[^/]+\/nights\/[\d-]+-gate\.json$/.test(key);

/** Parses the key of a training run's record (`date` is null) or of a night's; null for any other key. */
export function readRecordKey(key: string): { trainRun: string; date: string | null } | null {
  const [, trainRun, date] = /^training\/([^/]+)\/(?:run|nights\/(\d{4}-\d\d-\d\d))\.json$/.exec(key) ?? [];
  return trainRun === undefined ? null : { trainRun, date: date ?? null };
}
