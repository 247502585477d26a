import { checkpointId, type CheckpointRef, readCheckpointId, sixDigits } from './names';
import type { GroupId } from './records';

// Keys in the store and among the artifacts; see `store/store.ts` for the characters of a key.

export const examplesKey = (sha256: string): string => `examples/${sha256}.jsonl`;
export const promptsKey = (sha256: string): string => `prompts/${sha256}.jsonl`;
export const tokenizerTextsKey = (sha256: string): string => `tokenizer-texts/${sha256}.jsonl`;

export const TRAINING_FOLDER = 'training/';
export const SERVING_KEY = `${TRAINING_FOLDER}serving.json`;

/** Makes a function that returns the key of a training run's file or folder. */
const inRun =
  <Place extends unknown[]>(pathOf: (...place: Place) => string) =>
  (trainRun: string, ...place: Place): string =>
    `${TRAINING_FOLDER}${trainRun}/${pathOf(...place)}`;

export const runKey = inRun(() => 'run.json');

export const nightsFolder = inRun(() => 'nights/');
export const nightKey = inRun((date: string) => `nights/${date}.json`);
export const gateKey = inRun((date: string) => `nights/${date}-gate.json`);
export const canaryKey = inRun((date: string) => `nights/${date}-canary.json`);
export const canaryBatchKey = inRun((date: string) => `nights/${date}-canary.jsonl.gz`);

export const checkpointsFolder = inRun(() => 'checkpoints/');
export const checkpointManifestKey = inRun((name: string) => `checkpoints/${name}.json`);

/** Folder of the trainer's lists of each checkpoint's files; nothing else is in it. */
export const weightsFolder = inRun(() => 'weights/');
export const weightsKey = inRun((name: string) => `weights/${name}.json`);
export const isWeightsKey = (key: string): boolean => /^training\/[^/]+\/weights\/[^/]+\.json$/.test(key);

export const WEIGHTS_FOLDER = 'weights/';

/** Folder of unfinished writes, including those of killed writers. */
export const UNFINISHED_FOLDER = 'unfinished/';

export const metricsFolder = inRun(() => 'metrics/');
export const metricsKey = inRun((cycle: number) => `metrics/${sixDigits(cycle)}.json`);

const inCycle = (path: string) => inRun((cycle: number) => `cycles/${sixDigits(cycle)}/${path}`);
export const batchKey = inCycle('batch.jsonl.gz');
/** Right plans that the policy wrote in a cycle, for this and later cycles to imitate. */
export const rightPlansKey = inCycle('right.json');
export const cycleExamplesKey = inCycle('examples.jsonl');
export const groupsFolder = inCycle('groups/');
const trialsFolder = inCycle('trials/');
const samplesFolder = inCycle('samples/');

const examplesFolder = inRun(() => 'examples/');

type Round = Omit<GroupId, 'question'> & { readonly round: number };

const roundFile = ({ draw, round }: Round): string => `${sixDigits(draw)}-${round}.json`;

/** Returns a group's key. Trials have a folder per policy, since several policies are tried on the same draws. */
export function groupKey(group: Round & { readonly checkpoint: string }): string {
  const { purpose, trainRun, cycle, checkpoint } = group;
  if (purpose === 'training') return groupsFolder(trainRun, cycle) + roundFile(group);
  if (purpose === 'examples') return examplesFolder(trainRun) + roundFile(group);
  const policy = readCheckpointId(checkpoint) === null ? 'prompted' : checkpoint;
  return `${trialsFolder(trainRun, cycle)}${purpose}/${policy}/${roundFile(group)}`;
}

export function samplesKey(group: Round & { readonly checkpoint: CheckpointRef }): string {
  const { purpose, trainRun, cycle, checkpoint } = group;
  const apart = purpose === 'training' ? '' : `${purpose}/${checkpointId(checkpoint)}/`;
  return samplesFolder(trainRun, cycle) + apart + roundFile(group);
}

export const isGateKey = (key: string): boolean => /^training\/[^/]+\/nights\/[\d-]+-gate\.json$/.test(key);

/** Parses the key of a training run's record (`date` is null) or of a night's; null for any other key. */
export function readRecordKey(key: string): { trainRun: string; date: string | null } | null {
  const [, trainRun, date] = /^training\/([^/]+)\/(?:run|nights\/(\d{4}-\d\d-\d\d))\.json$/.exec(key) ?? [];
  return trainRun === undefined ? null : { trainRun, date: date ?? null };
}
