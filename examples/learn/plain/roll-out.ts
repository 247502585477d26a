import { drawQuestions, drawWorkers } from '../../../src/training/draw';
import { hasSpread } from '../../../src/training/reward';
import type { BatchRow, Checkpoint } from '../../../src/training/trainer-contract';
import type { QuestionRow } from '../world/questions';
import type { Lesson } from './lesson';
import { playGroup } from './play-group';
import type { Played } from './play-round';

/** The rollouts of one cycle. */
export interface RolledOut {
  /** Those that there is something to learn from. */
  readonly rows: readonly BatchRow[];
  /** All of them, round by round. */
  readonly rounds: readonly (readonly Played[])[];
  readonly draws: number;
}

/** Draws questions until there are enough groups with a spread, one after the other. */
export async function rollOut(
  lesson: Lesson,
  questions: readonly QuestionRow[],
  checkpoint: Checkpoint,
  cycle: number,
): Promise<RolledOut> {
  const { seed, recipe, workers } = lesson;
  const { questions: wanted, groupSize: plans, maxDraws } = recipe.learning;
  const drawn = drawQuestions({ seed, count: questions.length, questions: wanted, cycle }, maxDraws);
  const groups: BatchRow[][] = [];
  const rounds: Played[][] = [[], []];
  let draw = 0;
  for (; draw < maxDraws && groups.length < wanted; draw += 1) {
    const played = await playGroup(lesson, checkpoint, {
      purpose: 'training',
      cycle,
      draw,
      question: questionAt(questions, drawn[draw]),
      workers: drawWorkers(workers, { seed, cycle, draw, pool: recipe.pool }),
      plans,
      temperature: 1,
    });
    for (const [round, each] of played.entries()) rounds[round]?.push(...each);
    const rows = played.flatMap((each, round) => toRows(each, draw, round));
    if (rows.length > 0) groups.push(rows);
  }
  return { rows: groups.flat(), rounds: rounds.filter(({ length }) => length > 0), draws: draw };
}

function questionAt(questions: readonly QuestionRow[], index: number | undefined): QuestionRow {
  const question = index === undefined ? undefined : questions[index];
  if (question === undefined)
    throw new RangeError(`There is no question ${index}; there are ${questions.length}.`);
  return question;
}

/** None where there is nothing to learn from. */
function toRows(played: readonly Played[], draw: number, round: number): BatchRow[] {
  if (!hasSpread(played.map(({ reward }) => reward))) return [];
  const groupId = round === 0 ? padded(draw) : `${padded(draw)}/${round}`;
  return played.map(({ sample, reward }, index) => ({
    rolloutId: `${groupId}/${padded(index)}`,
    groupId,
    round,
    promptTokenIds: [...sample.promptTokenIds],
    completionTokenIds: [...sample.tokenIds],
    sampledLogprobs: [...sample.logprobs],
    reward,
    finishReason: sample.finishReason,
  }));
}

function padded(number: number): string {
  return String(number).padStart(6, '0');
}
