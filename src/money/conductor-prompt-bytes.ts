import { conductorMessages } from '../plan/conductor-prompt';
import { planOutputSchema } from '../plan/output-schema';
import { renderPlan } from '../plan/render';
import type { WritePlanRequest } from '../protocol/activities';
import { CONDUCTOR_ID } from '../protocol/names';
import type { ReviewedRound } from '../protocol/parent';
import type { ResolvedRun } from '../protocol/run';
import type { Text } from '../protocol/text';
import {
  backgroundBytes,
  hiddenBytes,
  messageBytes,
  PART_BYTES,
  standIn,
  sum,
  textBytes,
  utf8Bytes,
} from './prompt-bytes';

/** An upper bound of the UTF-8 bytes that the Conductor is sent to write a plan, the output's schema included. */
export function conductorPromptBytes(request: WritePlanRequest, run: ResolvedRun): number {
  const { question, repairs, background = [], review, hints = [] } = request;
  const { conductor, limits } = run;
  const workers = request.mayCallItself === true ? [...run.workers, SELF] : run.workers;
  const withSchema = conductor.capabilities.jsonSchema;
  const messages = conductorMessages({
    question: standIn(question),
    style: conductor.prompt ?? 'full',
    workers,
    describe: conductor.describe,
    maxSteps: limits.steps,
    format: withSchema ? 'json' : 'lists',
    repairs: repairs.map(({ reply, problem }) => ({ reply: standIn(reply), problem: problem.message })),
  });
  const context = { workers: workers.map(({ id }) => id), maxSteps: limits.steps, round: request.round };
  return sum([
    messageBytes(messages),
    withSchema ? SCHEMA_COPIES * utf8Bytes(JSON.stringify(planOutputSchema(context, 'grammar'))) : 0,
    hiddenBytes(question) + 2 * PART_BYTES,
    ...repairs.map(({ reply }) => shownBytes(reply) + 2 * PART_BYTES),
    backgroundBytes(background),
    review === undefined ? 0 : reviewBytes(review),
    ...hints.map((hint) => utf8Bytes(hint) + PART_BYTES),
  ]);
}

const SELF = { id: CONDUCTOR_ID, notes: null };

/** One is sent, and a vendor may explain it to the model once more in words. */
const SCHEMA_COPIES = 2;

/** The most of a failed reply that a repair shows: it is clipped to 4000 characters, which have up to three bytes each. */
const SHOWN_BYTES = 3 * 4096;

function shownBytes(reply: Text): number {
  return Math.min(SHOWN_BYTES, hiddenBytes(reply));
}

/** The plan in either form of writing it, its workers by ordinal or by id, and its answer. */
function reviewBytes({ plan, answer }: ReviewedRound): number {
  const ids = plan.steps.map(({ worker }) => worker);
  const planBytes = utf8Bytes(renderPlan(plan, ids)) + sum(ids.map((id) => utf8Bytes(id) + PART_BYTES));
  return planBytes + textBytes(answer) + PART_BYTES;
}
