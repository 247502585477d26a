import type { Message } from '../../plan/plan';
import { conductorMessages } from '../../plan/prompt/conductor';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import type { SamplePlansRequest } from '../contract';
import type { Manifest } from '../manifest';

/** What decides how a policy is asked, the words of the question apart. */
export type PromptSettings = Pick<
  Manifest,
  'prompt' | 'describe' | 'maxSteps' | 'maxPromptTokens' | 'maxOutputTokens'
>;

/**
 * How the policy is to be asked: while training as the night's settings say, since the checkpoint that comes of it will
 * be served so; when it is tried as its own manifest says, since it may be of another training run.
 */
export function promptSettings(
  { purpose, policy, maxSteps }: Pick<SamplePlansRequest, 'purpose' | 'policy' | 'maxSteps'>,
  manifest: Manifest,
): PromptSettings {
  return purpose === 'training' ? { ...policy, maxSteps } : manifest;
}

/** The prompt of each plan. In a first round all are one; in a second each shows an earlier plan and its answer. */
export async function planPrompts(
  store: Store,
  { workers, plans, earlier }: Pick<SamplePlansRequest, 'workers' | 'plans' | 'earlier'>,
  { prompt: style, describe, maxSteps }: PromptSettings,
  question: string,
): Promise<Message[][]> {
  const shared = { style, question, workers, describe, maxSteps, repairs: [], format: 'lists' } as const;
  if (earlier === undefined) return Array<Message[]>(plans).fill(conductorMessages(shared));
  return Promise.all(
    earlier.map(async ({ plan, answer }) =>
      // Where there was no plan there is nothing to review: the question is asked as if for the first time.
      plan === null
        ? conductorMessages(shared)
        : conductorMessages({ ...shared, review: { plan, answer: await readText(store, answer) } }),
    ),
  );
}
