import {
  type Access,
  type PlanExample,
  type ExampleSet,
  GENERIC_SUBTASK,
  type Plan,
  type Step,
} from '../plan';
import { renderPlan, renderPlanAsJson } from '../render';

// Both sets have the same graphs and differ only in their subjects.

/** Everyday subjects: in the paper's ablation, out-of-domain examples did better than in-domain ones. */
const EVERYDAY: readonly PlanExample[] = [
  {
    question: 'Which river flows through Vienna?',
    reasoning: 'A well-known fact, so one worker is enough.',
    plan: examplePlan(['0', 'Name the river that flows through Vienna. Reply with its name only.']),
  },
  {
    question: 'Write a two-line rhyme for the door of a school library.',
    reasoning: 'Several drafts first; then another eye picks one and mends its rhythm.',
    plan: examplePlan(
      ['1', 'Write four different two-line rhymes that invite children to read.'],
      ['0', 'Pick the best rhyme, mend its rhythm, and reply with that rhyme only.', 0],
    ),
  },
  {
    question: 'Roughly how many umbrellas are sold each year in a rainy city of one million people?',
    reasoning: 'An estimate gains from two independent attempts and a third worker that weighs them.',
    plan: examplePlan(
      ['0', 'Estimate from how many people own an umbrella and how long it lasts.'],
      ['1', 'Estimate from the number of shops and their likely daily sales.'],
      ['2', 'Weigh both estimates, correct mistakes, and give one number and why.', 0, 1],
    ),
  },
  {
    question: 'Plan a dinner for six under 40 euros; one guest must not eat nuts.',
    reasoning: 'A menu first; then its safety and its cost are checked; then one worker writes it up.',
    plan: examplePlan(
      ['2', 'Propose a menu of three courses for six, with a shopping list.'],
      ['0', 'List every ingredient that may hold nuts or traces, with a safe substitute.', 0],
      ['1', 'Price the shopping list. If it exceeds 40 euros, name cheaper choices.', 0],
      ['2', 'Write the final menu and shopping list with all corrections applied.', 0, 1, 2],
    ),
  },
];

/** Examples of the paper's four kinds of tasks: multiple choice, free form, mathematics and code. */
const IN_DOMAIN: readonly PlanExample[] = [
  {
    question: 'Which organelle makes most of the ATP of a cell? A) ribosome B) mitochondrion C) nucleus',
    reasoning: 'A matter of textbooks, so one worker is enough.',
    plan: examplePlan(['0', 'Choose the right option. Reply with its letter.']),
  },
  {
    question: 'A car brakes from 20 m/s at 4 m/s². How far does it go?',
    reasoning: 'A short derivation first; then another worker checks units and arithmetic.',
    plan: examplePlan(
      ['1', 'Derive the braking distance from the speed and the deceleration.'],
      ['0', 'Check formula, units and arithmetic, and reply with the distance only.', 0],
    ),
  },
  {
    question: 'How many integers from 1 to 1000 are divisible by 3 or by 5, but not by 15?',
    reasoning: 'Counting goes wrong easily: two independent attempts and a third worker that compares them.',
    plan: examplePlan(
      ['0', 'Count them by inclusion and exclusion.'],
      ['1', 'Count them in one period of 15 and extend it to 1000.'],
      ['2', 'Compare both counts, find any mistake, and give the number.', 0, 1],
    ),
  },
  {
    question: 'Read n numbers and print the length of the longest strictly increasing subsequence.',
    reasoning: 'A program first; then its logic and its speed are checked; then one worker writes it up.',
    plan: examplePlan(
      ['2', 'Write a program that keeps the smallest tail of each length.'],
      ['0', 'Try it by hand on empty input, equal numbers and falling numbers.', 0],
      ['1', 'Say whether it is fast enough for 200 000 numbers, and if not, how.', 0],
      ['2', 'Write the final program with all corrections applied.', 0, 1, 2],
    ),
  },
];

/** Every set of examples that the Conductor can be shown, each with the shortest plan first. */
export const EXAMPLE_SETS: Readonly<Record<ExampleSet, readonly PlanExample[]>> = {
  'out-of-domain': EVERYDAY,
  'in-domain': IN_DOMAIN,
  mixed: EVERYDAY.map((example, place) => (place % 2 === 0 ? example : (IN_DOMAIN[place] ?? example))),
  none: [],
};

function examplePlan(...steps: readonly [worker: string, subtask: string, ...sees: number[]][]): Plan {
  return { steps: steps.map(([worker, subtask, ...sees]) => ({ worker, subtask, sees })) };
}

interface ReplyForm {
  readonly format: 'lists' | 'json';
  readonly access: Access;
  /** @default true */
  readonly subtasks?: boolean | undefined;
}

/** Writes an example as the reply that the Conductor should have given; ordinals wrap around in a smaller pool. */
export function exampleReply(
  { reasoning, plan }: PlanExample,
  workers: number,
  { format, access, subtasks = true }: ReplyForm,
): string {
  const ordinals = Array.from({ length: workers }, (_, ordinal) => `${ordinal}`);
  const steps = plan.steps.map(({ worker, subtask, sees }, index): Step => ({
    worker: `${Number(worker) % workers}`,
    subtask: subtasks ? subtask : GENERIC_SUBTASK,
    sees: access === 'binary' && sees.length > 0 ? [...Array(index).keys()] : sees,
  }));
  if (format === 'json') return renderPlanAsJson({ steps }, ordinals, access, reasoning);
  return `${reasoning}\n${renderPlan({ steps }, ordinals)}`;
}
