import type { Plan } from '../../../src/plan/plan';
import { type GivenText, workerMessages } from '../../../src/plan/prompt/worker';
import { replyAs } from '../world/reply';
import type { World } from '../world/world';

/** What a plan's steps are asked and for. */
export interface Errand {
  readonly world: World;
  readonly seed: number;
  readonly question: string;
  /** What every step is shown. */
  readonly background?: readonly GivenText[];
  /** Tells this run from all others. */
  readonly name: string;
}

/** Carries out a plan without any process but this one, in the product's own words; returns the last step's reply. */
export function carryOut({ steps }: Plan, { world, seed, question, background = [], name }: Errand): string {
  const outputs: string[] = [];
  for (const [index, { worker, subtask, sees }] of steps.entries()) {
    const seen = sees.map((step) => ({
      step,
      subtask: steps[step]?.subtask ?? '',
      output: outputs[step] ?? '',
    }));
    const messages = workerMessages({ question, subtask, background, sees: seen, layout: 'tagged' });
    const prompt = messages.map(({ text }) => text).join('\n\n');
    outputs.push(replyAs(world, seed, { worker, prompt, callId: `${name}/${index}` }));
  }
  return outputs.at(-1) ?? '';
}
