import type { Plan } from '../plan';
import { renderPlan } from '../render';
import { renderPlanAsJson } from '../render-json';

/** A question with a sensible plan for it. The workers are ordinals. */
export interface Example {
  readonly question: string;
  readonly reasoning: string;
  readonly plan: Plan;
}

/**
 * What the Conductor is shown: one step, then a draft and its polish, then independent attempts and a judge, then
 * checks side by side. Their subjects are everyday ones on purpose: in the paper, examples from outside the tasks'
 * domain did better than examples from inside it (its ablation of few-shot examples).
 */
export const EXAMPLES: readonly Example[] = [
  {
    question: 'Which river flows through Vienna?',
    reasoning: 'A well-known fact, so one worker is enough.',
    plan: {
      steps: [
        {
          worker: '0',
          subtask: 'Name the river that flows through Vienna. Reply with its name only.',
          sees: [],
        },
      ],
    },
  },
  {
    question: 'Write a two-line rhyme for the door of a school library.',
    reasoning: 'Several drafts first; then another eye picks one and mends its rhythm.',
    plan: {
      steps: [
        {
          worker: '1',
          subtask: 'Write four different two-line rhymes that invite children to read.',
          sees: [],
        },
        {
          worker: '0',
          subtask: 'Pick the best rhyme, mend its rhythm, and reply with that rhyme only.',
          sees: [0],
        },
      ],
    },
  },
  {
    question: 'Roughly how many umbrellas are sold each year in a rainy city of one million people?',
    reasoning: 'An estimate gains from two independent attempts and a third worker that weighs them.',
    plan: {
      steps: [
        {
          worker: '0',
          subtask: 'Estimate from how many people own an umbrella and how long it lasts.',
          sees: [],
        },
        { worker: '1', subtask: 'Estimate from the number of shops and their likely daily sales.', sees: [] },
        {
          worker: '2',
          subtask: 'Weigh both estimates, correct mistakes, and give one number and why.',
          sees: [0, 1],
        },
      ],
    },
  },
  {
    question: 'Plan a dinner for six under 40 euros; one guest must not eat nuts.',
    reasoning: 'A menu first; then its safety and its cost are checked; then one worker writes it up.',
    plan: {
      steps: [
        { worker: '2', subtask: 'Propose a menu of three courses for six, with a shopping list.', sees: [] },
        {
          worker: '0',
          subtask: 'List every ingredient that may hold nuts or traces, with a safe substitute.',
          sees: [0],
        },
        {
          worker: '1',
          subtask: 'Price the shopping list. If it exceeds 40 euros, name cheaper choices.',
          sees: [0],
        },
        {
          worker: '2',
          subtask: 'Write the final menu and shopping list with all corrections applied.',
          sees: [0, 1, 2],
        },
      ],
    },
  },
];

/** An example as the reply that the Conductor should have given, with no worker beyond the pool's last. */
export function exampleReply(
  { reasoning, plan }: Example,
  workers: number,
  format: 'lists' | 'json',
): string {
  const ordinals = Array.from({ length: workers }, (_, ordinal) => `${ordinal}`);
  const steps = plan.steps.map((step) => ({ ...step, worker: `${Number(step.worker) % workers}` }));
  if (format === 'lists') return `${reasoning}\n${renderPlan({ steps }, ordinals)}`;
  return renderPlanAsJson({ steps }, ordinals, reasoning);
}
