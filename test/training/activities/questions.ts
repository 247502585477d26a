import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseTrainable } from '../../../src/training/config';
import type { TrainableConfig } from '../../../src/training';
import { SqliteStore } from '../../../src/store/sqlite-store';
import type { TrainingInput } from '../../../src/training/config/schema';
import { freshFolder } from '../../local/fresh-folder';

/** A folder with questions and a store, and configurations that use them. */
export interface QuestionFolder {
  readonly store: SqliteStore;
  /** Artifacts folder of the configurations. */
  readonly artifacts: string;
  readonly train: string;
  readonly heldOut: string;
  write(file: string, rows: readonly unknown[]): Promise<string>;
  config(training?: TrainingInput): TrainableConfig;
}

const MODEL = { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' } as const;

/** Returns a row that a grader can judge. */
export function row(id: string, question = `What is ${id}?`): Readonly<Record<string, unknown>> {
  return { id, question, answer: 4, grader: 'number' };
}

/** Returns a row whose grader needs a sandbox. */
export function codeRow(id: string): Readonly<Record<string, unknown>> {
  return { id, question: `Print ${id}.`, grader: 'code', tests: [{ input: '', output: id }] };
}

export async function openQuestionFolder(): Promise<QuestionFolder> {
  const folder = await freshFolder();
  const write = async (file: string, rows: readonly unknown[]): Promise<string> => {
    const path = join(folder, file);
    const lines = rows.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    await writeFile(path, lines.join('\n'));
    return path;
  };
  const train = await write(
    'train.jsonl',
    ['a', 'b', 'c'].map((id) => row(id)),
  );
  const heldOut = await write('held-out.jsonl', [row('x')]);
  return {
    store: new SqliteStore(join(folder, 'store.db')),
    artifacts: join(folder, 'artifacts'),
    train,
    heldOut,
    write,
    config: (training = {}) =>
      parseTrainable({
        conductor: MODEL,
        workers: [{ ...MODEL, id: 'w' }],
        training: {
          run: 'sums',
          data: { train, heldOut },
          base: { kind: 'folder', path: 'models/qwen' },
          policy: { baseUrl: 'http://127.0.0.1:8001/v1' },
          cycles: 3,
          artifacts: join(folder, 'artifacts'),
          ...training,
        },
      }),
  };
}
