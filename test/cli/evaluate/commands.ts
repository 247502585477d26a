import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modelsOf, PRICES, questionsOf, WORKERS, type WorldQuestion } from '../../../examples/evaluate/world';
import type { ConfigInput } from '../../../src';
import type { MethodRecord } from '../../../src/evaluation/results';
import { type ModelBehaviour, type SimulatedProviders, startSimulatedProviders } from '../../../src/testing';
import { type CommandSetting, type Ended, type RunningCommand, startCommand } from '../command';
import { type Folder, makeFolder } from '../folder';

/** A folder with a simulated pool whose skills are known, to run `eval` in as a user would. */
export interface EvaluationFolder {
  readonly folder: Folder;
  readonly providers: SimulatedProviders;
  readonly questions: readonly WorldQuestion[];
  start(args: readonly string[], setting?: Partial<CommandSetting>): RunningCommand;
  run(args: readonly string[], setting?: Partial<CommandSetting>): Promise<Ended>;
  /** Writes `conductor.yaml`. */
  configure(changes?: Partial<ConfigInput>): Promise<void>;
  /** Returns the results that an evaluation left in its folder. */
  results(out: string): Promise<MethodRecord[]>;
  close(): Promise<void>;
}

export async function openEvaluationFolder(
  count: number,
  models: Record<string, ModelBehaviour> = {},
): Promise<EvaluationFolder> {
  const questions = questionsOf(count);
  const [folder, providers] = await Promise.all([
    makeFolder(),
    startSimulatedProviders({ models: { ...modelsOf(questions), ...models } }),
  ]);
  const lines = questions.map((question) => `${JSON.stringify(question)}\n`);
  await writeFile(join(folder.path, 'questions.jsonl'), lines.join(''));
  const model = (name: string) => ({
    provider: 'openai' as const,
    model: name,
    baseUrl: `${providers.url}/v1`,
    apiKeyEnv: 'POOL_KEY',
    price: PRICES[name] ?? { input: 1, output: 1 },
  });
  const env = { POOL_KEY: 'simulated', CONDUCTOR_TRUST: `POOL_KEY=${providers.url}` };
  const start: EvaluationFolder['start'] = (args, setting) =>
    startCommand(args, { cwd: folder.path, env, ...setting });
  const stage: EvaluationFolder = {
    folder,
    providers,
    questions,
    start,
    run: (args, setting) => start(args, setting).ended,
    configure: (changes = {}) =>
      folder.write('conductor.yaml', {
        conductor: model('conductor'),
        workers: Object.keys(WORKERS).map((id) => ({ id, ...model(id) })),
        verifier: model('judge'),
        ...changes,
      }),
    results: async (out) => {
      const text = await readFile(join(folder.path, out, 'results.jsonl'), 'utf8');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as MethodRecord);
    },
    close: async () => {
      await providers.close();
      await folder.remove();
    },
  };
  await stage.configure();
  return stage;
}
