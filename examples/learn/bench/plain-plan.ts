import type { Plan, Step } from '../../../src/plan/plan';
import { workerMessages } from '../../../src/plan/prompt/worker';
import type { ModelCard } from '../../../src/protocol/cards';
import type { RolloutId } from '../../../src/training/rollout';
import type { AskWorker } from './ask-worker';

/** Whose plan it is, and who carries it out. */
export interface PlainTeam {
  readonly ask: AskWorker;
  readonly workers: readonly ModelCard[];
  readonly question: string;
  readonly rollout: RolloutId;
}

/** Carries out a plan, each step as soon as it may see what it wants to see; returns the last one's output. */
export async function carryOut({ steps }: Plan, team: PlainTeam): Promise<string> {
  const outputs: Promise<string>[] = [];
  for (const [index, step] of steps.entries())
    outputs.push(runStep(team, steps, outputs, { ...step, index }));
  const all = await Promise.all(outputs);
  return all.at(-1) ?? '';
}

async function runStep(
  { ask, workers, question, rollout }: PlainTeam,
  steps: readonly Step[],
  outputs: readonly Promise<string>[],
  { index, worker, subtask, sees }: Step & { readonly index: number },
): Promise<string> {
  const card = workers.find(({ id }) => id === worker);
  if (card === undefined) throw new Error(`The plan names ${worker}, whom nobody knows.`);
  const seen = await Promise.all(
    sees.map(async (step) => ({
      step,
      subtask: steps[step]?.subtask ?? '',
      output: (await outputs[step]) ?? '',
    })),
  );
  const messages = workerMessages({ question, subtask, sees: seen, layout: card.layout });
  return ask({ card, messages, rollout, step: index });
}
