import type { PolicyAnswer } from '../../../src/policy/ask-policy';
import type { QuestionRow } from '../../../src/testing/world';
import { answerIn } from '../../../src/testing/world/read-prompt';
import { drawQuestions } from '../../../src/training/draw-questions';
import { samplingSeed } from '../../../src/training/seeds';
import { hasSpread } from '../../../src/training/spread';
import type { BatchRow, Checkpoint } from '../../../src/training/trainer-contract';
import { carryOut } from './carry-out';
import { samplePlans, type Lesson } from './lesson';
import { planIn } from './scoring';

/** What one plan came to. */
interface Outcome {
  readonly reward: number;
  /** Of the plan; 0 where the reply was none. */
  readonly steps: number;
}

/** The rollouts of one cycle. */
export interface RolledOut {
  /** Those that there is something to learn from. */
  readonly rows: readonly BatchRow[];
  readonly outcomes: readonly Outcome[];
  readonly draws: number;
}

/** Draws questions until there are enough groups with a spread, one after the other. */
export async function rollOut(
  lesson: Lesson,
  questions: readonly QuestionRow[],
  checkpoint: Checkpoint,
  cycle: number,
): Promise<RolledOut> {
  const { seed, recipe } = lesson;
  const { questions: wanted, groupSize, maxDraws } = recipe.learning;
  const drawn = drawQuestions({ seed, count: questions.length, questions: wanted, cycle }, maxDraws);
  const groups: BatchRow[][] = [];
  const outcomes: Outcome[] = [];
  let draw = 0;
  for (; draw < maxDraws && groups.length < wanted; draw += 1) {
    const question = questionAt(questions, drawn[draw]);
    const sampling = {
      n: groupSize,
      seed: samplingSeed({ seed, cycle, draw, round: 0, purpose: 'training' }),
      temperature: 1,
    };
    const answer = await samplePlans(lesson, checkpoint, question.question, sampling);
    const group = answer.samples.map(({ text }, index) =>
      outcomeOf(lesson, question, text, `${cycle}/${draw}/${index}`),
    );
    outcomes.push(...group);
    if (hasSpread(group.map(({ reward }) => reward))) groups.push(toRows(answer, group, draw));
  }
  return { rows: groups.flat(), outcomes, draws: draw };
}

function questionAt(questions: readonly QuestionRow[], index: number | undefined): QuestionRow {
  const question = index === undefined ? undefined : questions[index];
  if (question === undefined)
    throw new RangeError(`There is no question ${index}; there are ${questions.length}.`);
  return question;
}

function outcomeOf(
  { recipe: { world }, seed }: Lesson,
  { question, answer }: QuestionRow,
  text: string,
  name: string,
): Outcome {
  const plan = planIn(world, text);
  if (plan === null) return { reward: 0, steps: 0 };
  const reply = carryOut(plan, { world, seed, question, name });
  return { reward: answerIn(reply) === Number(answer) ? 1 : 0.5, steps: plan.steps.length };
}

function toRows(
  { promptTokenIds, samples }: PolicyAnswer,
  group: readonly Outcome[],
  draw: number,
): BatchRow[] {
  return samples.map(({ tokenIds, logprobs, finishReason }, index) => ({
    rolloutId: `${padded(draw)}/${padded(index)}`,
    groupId: padded(draw),
    round: 0,
    promptTokenIds: [...promptTokenIds],
    completionTokenIds: [...tokenIds],
    sampledLogprobs: [...logprobs],
    reward: group[index]?.reward ?? null,
    finishReason,
  }));
}

function padded(number: number): string {
  return String(number).padStart(6, '0');
}
