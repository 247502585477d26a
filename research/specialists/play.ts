import { Readable } from 'node:stream';
import type { Verdict } from '../../src/grading/grade';
import type { Plan } from '../../src/plan/plan';
import { conductorMessages } from '../../src/plan/prompt/conductor';
import type { KeptSample } from '../../src/training/activities/batch';
import { samplePrompts } from '../../src/training/activities/sample-plans';
import { tinyPrompt } from '../support/tiny-prompt';
import { rewardOf } from '../../src/training/rewards';
import type { Checkpoint } from '../../src/training/trainer-contract';
import { planIn } from '../plain/group';
import { LONGEST_PLAN, PROMPT } from './conductor';
import type { Crew } from './crew';
import type { QuestionRow } from './questions';

/** In tokens; the longest plans of three steps take fewer. */
export const MOST_TOKENS = 120;
/** In tokens, with room for a reply that was no plan, which a solve shows to the Conductor once more. */
export const MOST_PROMPT = 380;

/** Shorter right plans earn more; otherwise the policy pads plans with steps that change nothing. */
export const REWARDS = { unparseable: 0, parseable: 0.5, correct: 1, costWeight: 0, lengthWeight: 0.1 };

/** A plan that was written, carried out and judged. */
export interface Played {
  readonly row: QuestionRow;
  readonly prompt: string;
  readonly sample: KeptSample;
  readonly plan: Plan | null;
  readonly verdict: Verdict;
  readonly reward: number | null;
}

/** The workers that carry out plans, and the server of the policies that write them. */
export interface Players {
  readonly crew: Crew;
  /** Base URL of the server of policies, ending in `/v1`. */
  readonly policyUrl: string;
}

/** Sampling settings. */
export interface Draw {
  /** Plans per question. */
  readonly plans: number;
  /** 0: greedy sampling. */
  readonly temperature: number;
  readonly seed: number;
}

/** Samples plans from a checkpoint with the product's prompt, and has the workers carry them out. */
export async function writePlans(
  { crew, policyUrl }: Players,
  { trainRun, name, folder, vocabulary }: Checkpoint,
  rows: readonly QuestionRow[],
  { plans, temperature, seed }: Draw,
): Promise<Played[]> {
  const workers = crew.ids.map((id) => ({ id, notes: null }));
  const policy = {
    model: `${trainRun}-${name}`,
    folder,
    vocabulary,
    maxPromptTokens: MOST_PROMPT,
    baseUrl: policyUrl,
    chat: 'chatml',
  } as const;
  const prompts = rows.map(({ question }) => conductorMessages({ ...PROMPT, question, workers }));
  const asked = prompts.flatMap((prompt) => Array<typeof prompt>(plans).fill(prompt));
  const task = { policy, prompts: asked, temperature, seed, maxTokens: MOST_TOKENS };
  const samples = await samplePrompts(task, new AbortController().signal);
  const played = await Readable.from(samples.entries())
    .map(
      async ([place, sample]: [number, KeptSample]): Promise<Played> => {
        const row = rows[Math.floor(place / plans)];
        const prompt = prompts[Math.floor(place / plans)];
        if (row === undefined || prompt === undefined)
          throw new RangeError(`There is no question for plan ${place}.`);
        return { prompt: tinyPrompt(prompt), ...(await play(crew, row, sample)) };
      },
      { concurrency: 1024 },
    )
    .toArray();
  return played as Played[];
}

async function play(crew: Crew, row: QuestionRow, sample: KeptSample): Promise<Omit<Played, 'prompt'>> {
  const team = { workers: crew.ids.map((id) => ({ id })), maxSteps: LONGEST_PLAN };
  const plan = planIn(team, sample.text);
  const answer = plan && (await crew.carryOut(plan, row.question));
  const verdict = plan === null ? 'unparseable' : answer?.trim() === row.answer ? 'correct' : 'wrong';
  return { row, sample, plan, verdict, reward: rewardOf({ verdict, plan, nanoUsd: 0 }, REWARDS) };
}
