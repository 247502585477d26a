// Where evaluations keep what. Every key is a place in the store; see `store/store.ts` for what a key may be made of.

/** A set of questions, JSON lines under the SHA-256 of their bytes. */
export const questionSetKey = (sha256: string): string => `questions/${sha256}.jsonl`;

/** The SHA-256 of the questions that lie under a key; null where that is no set's. */
export function readQuestionSetKey(key: string): string | null {
  return /^questions\/([0-9a-f]{64})\.jsonl$/.exec(key)?.[1] ?? null;
}

export const EVALUATIONS = 'evaluations/';

const folder = (evaluation: string): string => `${EVALUATIONS}${evaluation}/`;

export const manifestKey = (evaluation: string): string => `${folder(evaluation)}evaluation.json`;

export const isManifestKey = (key: string): boolean => /^evaluations\/[^/]+\/evaluation\.json$/.test(key);

/** A record for each method and question, and nothing else. */
export const resultsFolder = (evaluation: string): string => `${folder(evaluation)}results/`;

export const questionFolder = (evaluation: string, index: number): string =>
  `${resultsFolder(evaluation)}${String(index).padStart(6, '0')}/`;

export const resultKey = (evaluation: string, index: number, method: string): string =>
  `${questionFolder(evaluation, index)}${slugOf(method)}.json`;

/** A method as a part of keys and workflow ids: `vote:gpt` is `vote-gpt`, and `conductor:a/b:1` is `conductor-a_b.1`. */
export function slugOf(method: string): string {
  return method
    .replace('/', '_')
    .replace(/^(conductor:[^:]*):/, '$1.')
    .replace(/[^A-Za-z0-9._]+/g, '-');
}
