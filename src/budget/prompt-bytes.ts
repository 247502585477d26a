import { jsonBytes, type Plan, utf8Bytes } from '../plan/plan';
import type { RunTask, WorkerRequest, WritePlanRequest } from '../protocol/activity-contract';
import type { ConductorCard, ResolvedRun } from '../protocol/cards';
import type { Background } from '../protocol/input';
import { toolsToldOf } from '../protocol/planning';
import type { Text } from '../protocol/text';

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
    ({ name, input, output, said = '' }) =>
      utf8Bytes(name) + textBytes(input) + textBytes(output) + textBytes(said) + 2 * BYTES.part,
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
