import { planOutputSchema } from '../plan/json';
import type { Message } from '../plan/message';
import { conductorMessages } from '../plan/prompt/conductor';
import { workerMessages } from '../plan/prompt/worker';
import { renderPlan } from '../plan/render';
import type { Background, ReviewedRound, WorkerRequest, WritePlanRequest } from '../protocol/activities';
import type { ConductorCard, ModelCard } from '../protocol/cards';
import { CONDUCTOR_ID } from '../protocol/names';
import type { PlanningRun, RunWorker } from '../protocol/run';
import type { Text } from '../protocol/text';
import { nanoUsdOf } from './nano-usd';

/** What ONE request that is billed may come to. */
export interface WorstCase {
  readonly tokens: number;
  /** null: the price is unknown, so nothing is set aside and a cost limit cannot be enforced. */
  readonly nanoUsd: number | null;
}

/**
 * Tokens that a server adds to a prompt unseen: the tags of its chat template around each of a few messages, the
 * default system message of an open model, a vendor's own words about the shape of the output.
 */
const UNSEEN_TOKENS = 256;

/**
 * The most that one request can cost: each byte of the prompt a token, and the output as long as it may be.
 *
 * A tokenizer makes at most one token of a byte, so that this holds for every model without loading any. All input is
 * priced as fresh or as written to a cache, whichever costs more; cached input would cost less. It is the price of the
 * usual service tier, since no other is asked for, and OpenAI is asked for that one whatever the project's settings.
 *
 * A worker that is an activity or a workflow of the user's spends what only its owner knows.
 *
 * @param promptBytes of all messages and of the output schema, in UTF-8
 */
export function worstCaseOf(
  card: RunWorker | ConductorCard,
  promptBytes: number,
  maxOutputTokens: number,
): WorstCase {
  if (!isModel(card)) return { tokens: 0, nanoUsd: null };
  const inputTokens = promptBytes + UNSEEN_TOKENS;
  const tokens = inputTokens + maxOutputTokens;
  const { price } = card;
  if (price === null) return { tokens, nanoUsd: null };
  const fresh = { inputTokens, outputTokens: maxOutputTokens, cachedInputTokens: 0, reasoningTokens: 0 };
  const written = { ...fresh, cacheWriteTokens: inputTokens };
  return { tokens, nanoUsd: Math.max(nanoUsdOf(fresh, price), nanoUsdOf(written, price)) };
}

function isModel(card: RunWorker | ConductorCard): card is ModelCard | ConductorCard {
  return 'provider' in card;
}

/** An upper bound of the UTF-8 bytes that the Conductor is sent to write a plan, the output's schema included. */
export function conductorPromptBytes(
  request: Pick<
    WritePlanRequest,
    'question' | 'round' | 'repairs' | 'mayCallItself' | 'background' | 'review' | 'hints'
  >,
  run: PlanningRun,
): number {
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

/** An upper bound of the UTF-8 bytes that a step's worker is sent. Texts in the store need not be loaded. */
export function workerPromptBytes(
  request: Pick<WorkerRequest, 'question' | 'subtask' | 'sees' | 'background' | 'worker'>,
): number {
  const { question, subtask, sees, background = [], worker } = request;
  const messages = workerMessages({
    question: standIn(question),
    subtask,
    sees: sees.map((seen) => ({ ...seen, output: standIn(seen.output) })),
    layout: worker.kind === 'model' ? worker.layout : 'tagged',
  });
  return sum([
    messageBytes(messages),
    hiddenBytes(question),
    ...sees.map(({ output }) => hiddenBytes(output) + PART_BYTES),
    backgroundBytes(background),
    // The question and the own subtask.
    2 * PART_BYTES,
  ]);
}

/**
 * What one part of a prompt may need besides its text, in bytes: its heading, its tags with the marks that make them
 * unlike any tag in the texts (`-` and up to nine digits, four times), and what a chat template puts around a message.
 */
export const PART_BYTES = 256;

/**
 * Stands in a prompt for a text that only the store holds. So a prompt can be built by the code that builds it for the
 * model, and its bound follows whatever that comes to say.
 */
function standIn(text: Text): string {
  return typeof text === 'string' ? text : '?';
}

/** Bytes that a stand-in hides; 0 where the text itself is at hand. */
function hiddenBytes(text: Text): number {
  return typeof text === 'string' ? 0 : text.bytes;
}

/** Bytes of messages as they are. */
function messageBytes(messages: readonly Message[]): number {
  return sum(messages.map(({ text }) => utf8Bytes(text)));
}

/** The most that earlier texts, shown to everybody in a child, add to a prompt. */
function backgroundBytes(background: readonly Background[]): number {
  return sum(
    background.map(({ subtask, output }) => utf8Bytes(subtask ?? '') + textBytes(output) + PART_BYTES),
  );
}

/** Bytes of a text, wherever it lies. */
function textBytes(text: Text): number {
  return typeof text === 'string' ? utf8Bytes(text) : text.bytes;
}

const encoder = new TextEncoder();

/** Bytes of a text in UTF-8. */
function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

/** The sum of numbers of bytes. */
function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
