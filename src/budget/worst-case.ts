import { CONDUCTOR_ID, type Message, type Plan, type Step } from '../plan/plan';
import { conductorMessages } from '../plan/prompt/conductor';
import { workerMessages } from '../plan/prompt/worker';
import { planOutputSchema, renderPlan } from '../plan/render';
import type { Background, ReviewedRound, WorkerRequest, WritePlanRequest } from '../protocol/activities';
import type { ConductorCard } from '../protocol/cards';
import type { PlanningRun, RunWorker, ResolvedRun } from '../protocol/run';
import type { SolveTrace } from '../protocol/solve';
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
 * A tokenizer makes at most one token of a byte, so this holds for every model without loading any. All input is
 * priced as fresh or as written to a cache, whichever costs more, in the usual service tier: no other is asked for. Of
 * the user's own activities and workflows, nothing is known.
 *
 * @param promptBytes of all messages and of the output schema, in UTF-8
 */
export function worstCaseOf(
  card: RunWorker | ConductorCard,
  promptBytes: number,
  maxOutputTokens: number,
): WorstCase {
  if (!('provider' in card)) return { tokens: 0, nanoUsd: null };
  const inputTokens = promptBytes + UNSEEN_TOKENS;
  const tokens = inputTokens + maxOutputTokens;
  const { price } = card;
  if (price === null) return { tokens, nanoUsd: null };
  const fresh = { inputTokens, outputTokens: maxOutputTokens, cachedInputTokens: 0, reasoningTokens: 0 };
  const written = { ...fresh, cacheWriteTokens: inputTokens };
  return { tokens, nanoUsd: Math.max(nanoUsdOf(fresh, price), nanoUsdOf(written, price)) };
}

// The bounds below build a prompt with the code that builds it for the model, so that they follow its wording. A text
// that only the store holds is not loaded: a stand-in takes its place, and the bytes that it hides are added.

/**
 * What one part of a prompt may need besides its text, in bytes: its heading, its tags with the marks that make them
 * unlike any tag in the texts (`-` and up to nine digits, four times), and what a chat template puts around a message.
 */
const PART_BYTES = 256;
/** One is sent, and a vendor may explain it to the model once more in words. */
const SCHEMA_COPIES = 2;
/** The most of a failed reply that a repair shows: it is clipped to 4000 characters, which have up to three bytes each. */
const SHOWN_BYTES = 3 * 4096;

/** An upper bound of the UTF-8 bytes that the Conductor is sent to write a plan, the output's schema included. */
export function conductorPromptBytes(
  request: Pick<
    WritePlanRequest,
    'question' | 'round' | 'repairs' | 'mayCallItself' | 'background' | 'review' | 'hints'
  >,
  run: PlanningRun,
): number {
  const { question, round, repairs, background = [], review, hints = [] } = request;
  const { conductor, limits } = run;
  const self = request.mayCallItself === true ? [{ id: CONDUCTOR_ID, notes: null }] : [];
  const workers = [...run.workers, ...self];
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
  const context = { workers: workers.map(({ id }) => id), maxSteps: limits.steps, round };
  return sum([
    messageBytes(messages),
    withSchema ? SCHEMA_COPIES * utf8Bytes(JSON.stringify(planOutputSchema(context, 'grammar'))) : 0,
    hiddenBytes(question) + 2 * PART_BYTES,
    ...repairs.map(({ reply }) => Math.min(SHOWN_BYTES, hiddenBytes(reply)) + 2 * PART_BYTES),
    backgroundBytes(background),
    review === undefined ? 0 : reviewBytes(review),
    ...hints.map((hint) => utf8Bytes(hint) + PART_BYTES),
  ]);
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

function standIn(text: Text): string {
  return typeof text === 'string' ? text : '?';
}

function hiddenBytes(text: Text): number {
  return typeof text === 'string' ? 0 : text.bytes;
}

function messageBytes(messages: readonly Message[]): number {
  return sum(messages.map(({ text }) => utf8Bytes(text)));
}

/** The most that earlier texts, shown to every worker of a child, add to a prompt. */
function backgroundBytes(background: readonly Background[]): number {
  return sum(
    background.map(({ subtask, output }) => utf8Bytes(subtask ?? '') + textBytes(output) + PART_BYTES),
  );
}

function textBytes(text: Text): number {
  return typeof text === 'string' ? utf8Bytes(text) : text.bytes;
}

const encoder = new TextEncoder();

function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/**
 * The most that a plan may cost where every step is asked once and answered by its planned worker.
 *
 * A step that sees others reads answers that are not written yet: each counts as many tokens as its worker may write,
 * which is close and no bound, since two models split a text differently. Of the user's own activities and workflows
 * only a call is counted, and of the Conductor's own steps too, since their plans are not written yet.
 */
export function estimatePlan(
  plan: Plan,
  run: ResolvedRun,
  question: Text,
  background: readonly Background[],
): NonNullable<SolveTrace['estimate']> {
  const workers = new Map(run.workers.map((worker) => [worker.id, worker]));
  const worstCaseOfStep = ({ worker: id, subtask, sees }: Step): WorstCase => {
    if (id === CONDUCTOR_ID) return { tokens: 0, nanoUsd: 0 };
    const worker = workers.get(id);
    if (worker?.kind !== 'model') return { tokens: 0, nanoUsd: null };
    const seen = sees.flatMap((index) => {
      const earlier = plan.steps[index];
      return earlier ? [{ ...earlier, step: index, output: outputToCome(workers.get(earlier.worker)) }] : [];
    });
    const bytes = workerPromptBytes({ question, subtask, sees: seen, worker, background });
    return worstCaseOf(worker, bytes, worker.maxOutputTokens);
  };
  const cases = plan.steps.map(worstCaseOfStep);
  const costs = cases.map(({ nanoUsd }) => nanoUsd);
  const ownSteps = plan.steps.filter(({ worker }) => worker === CONDUCTOR_ID).length;
  return {
    calls: cases.length,
    tokens: sum(cases.map(({ tokens }) => tokens)),
    nanoUsd: costs.every((nanoUsd) => nanoUsd !== null) ? sum(costs) : null,
    ...(ownSteps > 0 && { ownSteps }),
  };
}

/** An answer that is yet to be written, a byte for each token that it may have. */
function outputToCome(worker: RunWorker | undefined): Text {
  return { ref: '', bytes: worker?.kind === 'model' ? worker.maxOutputTokens : 0, preview: '' };
}
