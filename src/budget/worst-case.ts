import { CONDUCTOR_ID, jsonBytes, type Plan, type Step, utf8Bytes } from '../plan/plan';
import type { RunTask, WorkerRequest, WritePlanRequest } from '../protocol/activity-contract';
import type { ConductorCard, ResolvedRun, RunWorker } from '../protocol/cards';
import type { Background, SolveInput } from '../protocol/input';
import type { SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { nanoUsdOfCall, toolsToldOf } from '../protocol/planning';
import { nanoUsdOf } from './nano-usd';

/** Largest possible bill of ONE request. */
export interface WorstCase {
  /** Model of the request; absent for the user's own activities and workflows. */
  readonly model?: string;
  readonly tokens: number;
  /** null: the price is unknown, so no cost is reserved and a cost limit cannot be enforced. */
  readonly nanoUsd: number | null;
}

/** Tokens that a server may add unseen: chat template tags, a default system message, output instructions. */
const UNSEEN_TOKENS = 256;

/**
 * Returns the most that one request can cost: one token per prompt byte, an upper bound for every tokenizer, and the
 * longest output. Input is priced as fresh or as written to a cache, whichever costs more, in the standard tier.
 * @param promptBytes UTF-8 bytes of all messages and the output schema
 * @param maxOutputTokens default: the card's
 */
export function worstCaseOf(
  card: RunWorker | ConductorCard,
  promptBytes: number,
  maxOutputTokens?: number,
): WorstCase {
  if (!('provider' in card)) return { tokens: 0, nanoUsd: nanoUsdOfCall(card) };
  const { model, price } = card;
  const outputTokens = maxOutputTokens ?? card.maxOutputTokens;
  const inputTokens = promptBytes + UNSEEN_TOKENS;
  const tokens = inputTokens + outputTokens;
  if (price === null) return { model, tokens, nanoUsd: null };
  const fresh = { inputTokens, outputTokens, cachedInputTokens: 0, reasoningTokens: 0 };
  const written = { ...fresh, cacheWriteTokens: inputTokens };
  return { model, tokens, nanoUsd: Math.max(nanoUsdOf(fresh, price), nanoUsdOf(written, price)) };
}

/**
 * Upper bounds in bytes of what prompts contain besides the given texts. They bound the wording in `plan/prompt`, so
 * that a sentence may change and a run in flight still starts the same calls. See `docs/versioning.md`.
 */
const BYTES = {
  style: { full: 3072, compact: 256 },
  self: 256,
  member: 24,
  /** A worker's price: two numbers of up to 24 characters each. */
  price: 96,
  /** The JSON schema of a plan, sent once and perhaps repeated by the vendor, and each ordinal in it. */
  schema: 512,
  schemaCopies: 2,
  ordinal: 5,
  review: 512,
  /** The rule for an answer's schema, and the words around an answer that did not fit. */
  answerSchema: 384,
  /** A failed reply, clipped to 4000 characters of up to three bytes each. */
  shownReply: 3 * 4096,
  /** A worker's prompt without visible steps, and what each visible step adds besides a part. */
  worker: 316,
  seen: 54,
  /** A text's heading, its tags with a mark (`-` and up to nine digits, four times), and chat template tags. */
  part: 256,
} as const;

/** Returns an upper bound of the UTF-8 bytes sent to the Conductor for a plan, including the output schema. */
export function conductorPromptBytes(
  request: Pick<
    WritePlanRequest,
    keyof RunTask | 'repairs' | 'mayCallItself' | 'background' | 'review' | 'hints'
  >,
  { conductor, workers, toolset }: Pick<ResolvedRun, 'conductor' | 'workers' | 'toolset'>,
): number {
  const { repairs, mayCallItself = false, background = [], review, hints = [] } = request;
  const { style, self, member, price, schema, schemaCopies, ordinal, part, shownReply } = BYTES;
  const told = conductor.describe;
  const team = workers.map((worker) => {
    const { id, notes } = worker;
    const noted = `${id}${notes ?? ''}`;
    const remark = { ordinals: '', names: id, notes: noted, 'notes+price': noted }[told];
    const tools = toolsToldOf(worker, { toolset });
    const canCall = tools === undefined ? 0 : member + utf8Bytes(tools);
    return canCall + member + utf8Bytes(remark) + (told === 'notes+price' ? price : 0);
  });
  const members = workers.length + (mayCallItself ? 1 : 0);
  return sum([
    style[conductor.prompt ?? 'full'] + sum(team) + (mayCallItself ? self : 0),
    examplesBytes(conductor.examples),
    conductor.capabilities.jsonSchema ? schemaCopies * (schema + ordinal * members) : 0,
    askedBytes(request) + 2 * part,
    ...repairs.map(
      ({ reply, problem }) => Math.min(shownReply, textBytes(reply)) + utf8Bytes(problem.message) + 2 * part,
    ),
    backgroundBytes(background),
    review === undefined ? 0 : BYTES.review + planBytes(review.plan) + textBytes(review.answer),
    ...hints.map((hint) => utf8Bytes(hint) + part),
  ]);
}

/** Returns the bytes of configured examples; built-in sets are counted in `BYTES.style`. */
function examplesBytes(examples: ConductorCard['examples'] = []): number {
  if (typeof examples === 'string') return 0;
  return sum(
    examples.map(
      ({ question, reasoning, plan }) =>
        jsonBytes(question) + jsonBytes(reasoning) + planBytes(plan) + BYTES.part,
    ),
  );
}

/** Returns an upper bound of a plan's bytes as lists or JSON; in lists, `\b` and `\f` are longer than in JSON. */
function planBytes(plan: Plan): number {
  const json = JSON.stringify(plan).replace(/\\[bf]/g, '\\u0000');
  return utf8Bytes(json) + plan.steps.length * BYTES.part;
}

/** Returns an upper bound of the UTF-8 bytes sent to a step's worker, including the answer schema. */
export function workerPromptBytes(
  request: Pick<
    WorkerRequest,
    keyof RunTask | 'subtask' | 'sees' | 'background' | 'worker' | 'failed' | 'toolTurn' | 'earlierCalls'
  >,
): number {
  const { subtask, sees, background = [], worker, answerSchema, failed } = request;
  const instructions = worker.kind === 'model' ? utf8Bytes(worker.instructions ?? '') : 0;
  const isHeld = worker.kind === 'model' && worker.capabilities.jsonSchema && answerSchema !== undefined;
  return sum([
    BYTES.worker + instructions + askedBytes(request) + utf8Bytes(subtask) + 2 * BYTES.part,
    isHeld ? BYTES.schemaCopies * textBytes(answerSchema) : 0,
    failed === undefined ? 0 : textBytes(failed.reply) + utf8Bytes(failed.problem.message) + 2 * BYTES.part,
    backgroundBytes(sees) + sees.length * BYTES.seen + backgroundBytes(background),
    toolBytes(request),
  ]);
}

/** Returns the bytes of what was said with tools, by this worker and by those before it. */
function toolBytes({
  toolTurn,
  earlierCalls = [],
}: Pick<WorkerRequest, 'toolTurn' | 'earlierCalls'>): number {
  const told = earlierCalls.map(
    ({ name, input, output }) => utf8Bytes(name) + textBytes(input) + textBytes(output) + 2 * BYTES.part,
  );
  return (toolTurn?.bytes ?? 0) + sum(told);
}

/** Returns the bytes of what was asked; the JSON of a conversation is longer than the texts in it. */
function askedBytes({ question, conversation, answerSchema }: RunTask): number {
  return sum([
    textBytes(question),
    conversation === undefined ? 0 : textBytes(conversation.text) + (conversation.turns + 1) * BYTES.part,
    answerSchema === undefined ? 0 : textBytes(answerSchema) + BYTES.answerSchema + BYTES.part,
  ]);
}

function backgroundBytes(given: readonly Background[]): number {
  return sum(given.map(({ subtask, output }) => textBytes(subtask ?? '') + textBytes(output) + BYTES.part));
}

function textBytes(text: Text): number {
  return typeof text === 'string' ? utf8Bytes(text) : text.bytes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

interface PlanTexts extends RunTask, Pick<SolveInput, 'maxAnswerTokens'> {
  readonly background?: readonly Background[] | undefined;
  /** Outputs that already exist, by step: such a step costs nothing more. */
  readonly kept?: readonly (Text | null)[];
}

/**
 * Estimates the most that a plan may cost if its planned workers answer each step at the first request. An answer not
 * written yet counts as the most tokens its worker may write: no strict bound, since models tokenize differently. Steps
 * of a worker with tools takes all turns that it may, each with a result of the longest kind. Steps
 * of the Conductor itself count only as a call; the user's own activities and workflows add their price per call.
 */
export function estimatePlan(
  plan: Plan,
  run: ResolvedRun,
  { question, conversation, answerSchema, maxAnswerTokens, background = [], kept = [] }: PlanTexts,
): NonNullable<SolveTrace['estimate']> {
  const workers = new Map(run.workers.map((worker) => [worker.id, worker]));
  const last = plan.steps.at(-1);
  const worstCasesOfStep = (step: Step): WorstCase[] => {
    const { worker: id, subtask, sees } = step;
    if (id === CONDUCTOR_ID) return [{ tokens: 0, nanoUsd: 0 }];
    const worker = workers.get(id);
    if (worker === undefined) return [{ tokens: 0, nanoUsd: null }];
    const seen = sees.flatMap((index) => {
      const earlier = plan.steps[index];
      const output = kept[index] ?? outputToCome(workers.get(earlier?.worker ?? ''));
      return earlier ? [{ ...earlier, step: index, output }] : [];
    });
    const asked = { question, conversation, answerSchema: step === last ? answerSchema : undefined };
    const bytes = workerPromptBytes({ ...asked, subtask, sees: seen, background, worker });
    const { maxOutputTokens } = step === last ? answerRoom(worker, maxAnswerTokens) : {};
    return turnsOf(worker, run).map((before) => {
      // What an earlier turn and its result add; a token of an answer counts as a byte.
      const { resultBytes = 0 } = run.toolset ?? {};
      const added = before * ((worker.kind === 'model' ? worker.maxOutputTokens : 0) + resultBytes);
      return worstCaseOf(worker, bytes + added, maxOutputTokens);
    });
  };
  const left = plan.steps.filter((_, index) => (kept[index] ?? null) === null);
  const cases = left.flatMap(worstCasesOfStep);
  const costs = cases.map(({ nanoUsd }) => nanoUsd);
  const ownSteps = left.filter(({ worker }) => worker === CONDUCTOR_ID).length;
  return {
    calls: cases.length,
    tokens: sum(cases.map(({ tokens }) => tokens)),
    nanoUsd: costs.every((nanoUsd) => nanoUsd !== null) ? sum(costs) : null,
    ...(ownSteps > 0 && { ownSteps }),
  };
}

/** Returns the turns that a step may take, each by the number of turns before it: one, unless its worker has tools. */
function turnsOf(worker: RunWorker, { toolset }: Pick<ResolvedRun, 'toolset'>): number[] {
  const hasTools = toolset !== undefined && worker.kind === 'model' && (worker.tools ?? []).length > 0;
  return Array.from({ length: hasTools ? toolset.turns + 1 : 1 }, (_, before) => before);
}

/** Returns the output limits for a model's answer, if the run limits them. */
export function answerRoom(
  worker: RunWorker,
  maxAnswerTokens: number | undefined,
): Pick<WorkerRequest, 'maxOutputTokens' | 'maxAnswerTokens'> {
  if (worker.kind !== 'model' || maxAnswerTokens === undefined) return {};
  return { maxOutputTokens: Math.min(worker.maxOutputTokens, maxAnswerTokens), maxAnswerTokens };
}

/** Returns a placeholder for an answer not written yet, with one byte for each token that it may have. */
function outputToCome(worker: RunWorker | undefined): Text {
  return { ref: '', bytes: worker?.kind === 'model' ? worker.maxOutputTokens : 0, preview: '' };
}
