import type { Client } from '@temporalio/client';
import { modelsOf, WORKERS, type WorldQuestion } from '../../examples/evaluate/world';
import { readResults } from '../../src/evaluation/report';
import {
  EVALUATE_WORKFLOW,
  type EvaluateInput,
  type EvaluationProgress,
  questionSetKey,
  readMethods,
  summarize,
} from '../../src/evaluation/definitions';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { resolveBaselines, resolveVerifier } from '../../src/config/cards';
import { keepLines } from '../../src/store/records';
import { openStage, type Stage, type StageOptions } from '../support/stage';

/** Cost of each call, in 10⁻⁹ USD: a plan has twice as many tokens as an answer, at half the price. */
export const CALL_NANO_USD = 1_000_000;
const WORKER_PRICE = { input: 0, output: 10 };
const CONDUCTOR_PRICE = { input: 0, output: 5 };
/** Twice the Conductor's price. */
const FRONTIER_PRICE = { input: 0, output: 10 };

const IDS = Object.keys(WORKERS);

export type EvaluationStage = ReturnType<typeof evaluatingOn>;

/** Opens a stage whose pool is the simulated world: all calls cost the same unless the Conductor has another price. */
export async function openEvaluation(
  questions: readonly WorldQuestion[],
  {
    conductorPrice = CONDUCTOR_PRICE,
    ...options
  }: Pick<StageOptions, 'address'> & { readonly conductorPrice?: typeof CONDUCTOR_PRICE } = {},
): Promise<EvaluationStage> {
  const prices = { ...Object.fromEntries(IDS.map((id) => [id, WORKER_PRICE])), conductor: conductorPrice };
  const models = modelsOf(questions, prices);
  const frontier = { ...models.conductor, price: FRONTIER_PRICE };
  const giant = { ...models.scholar, price: FRONTIER_PRICE };
  const stage = await openStage({
    ...options,
    evaluates: true,
    workers: IDS,
    simulation: { models: { ...models, frontier, giant, judge: { price: WORKER_PRICE, answer: '' } } },
    configure: (config) => ({
      ...config,
      recursion: 'review',
      conductor: { ...config.conductor, price: conductorPrice },
      conductors: {
        frontier: {
          ...config.conductor,
          model: 'frontier',
          price: FRONTIER_PRICE,
        } as typeof config.conductor,
      },
      baselines: [
        {
          ...config.conductor,
          id: 'giant',
          model: 'giant',
          maxOutputTokens: 20_480,
          price: FRONTIER_PRICE,
        } as (typeof config.workers)[number],
      ],
      verifier: { ...config.conductor, model: 'judge', price: WORKER_PRICE } as typeof config.verifier,
      workers: config.workers.map((worker) => ({ ...worker, price: WORKER_PRICE }) as typeof worker),
    }),
  });
  return evaluatingOn(stage, questions);
}

function evaluatingOn(stage: Stage, questions: readonly WorldQuestion[]) {
  const results = (id: string) => readResults(stage.store, id);
  const config = parseConfig(stage.config);
  const [resolved, verifier] = [resolveRun(config), resolveVerifier(config)];
  const baselines = resolveBaselines(config);
  const conductors = { frontier: resolveRun(config, { conductor: { name: 'frontier' } }).conductor };
  if (verifier === null) throw new Error('the stage has a verifier');
  const run = async (input: EvaluateInput, { workflow }: Client = stage.temporal.client) => {
    const options = { workflowId: input.id, taskQueue: stage.taskQueue, args: [input] };
    return (await workflow.execute(EVALUATE_WORKFLOW, options)) as EvaluationProgress;
  };
  const inputOf = async (id: string, methods: readonly string[], changes: Partial<EvaluateInput> = {}) => {
    const { key } = await keepLines(stage.store, questions, questionSetKey);
    const input: EvaluateInput = {
      id,
      methods: readMethods(methods, { workers: IDS, conductors, baselines }),
      workers: IDS,
      seed: 1,
      set: key,
      questions: questions.length,
      window: 4,
      run: resolved,
      conductors,
      baselines,
      runNanoUsd: null,
      nanoUsd: null,
      ...changes,
    };
    return input;
  };
  return {
    ...stage,
    verifier,
    results,
    run,
    inputOf,
    /** Runs an evaluation to its end. */
    play: async (
      id: string,
      methods: readonly string[],
      changes?: Partial<EvaluateInput>,
      options?: Parameters<Stage['whileWorking']>[1],
    ) => {
      const input = await inputOf(id, methods, changes);
      const progress = await stage.whileWorking(() => run(input), options);
      return { input, progress, records: await results(id) };
    },
    summary: async (input: EvaluateInput) => {
      const [methods, workers] = [[...input.methods], [...input.workers]];
      const manifest = { ...input, methods, workers, schema: 1, file: 'world.jsonl', startedAt: '' } as const;
      return summarize(manifest, await results(input.id));
    },
  };
}
