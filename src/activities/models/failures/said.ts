// Reads what a server says of a failure. Vendors and relays put it in many shapes: see `reportIn`.

/** What a server says of a failure, wherever in its answer it says so. */
export interface Said {
  /** Status that the report itself names, as `"code": 429`; null if it names none. */
  readonly status: number | null;
  /** Codes, types and reasons: `insufficient_quota`, `RESOURCE_EXHAUSTED`, `1113`. */
  readonly codes: readonly string[];
  /** The server's sentence. Where a relay wraps another server's, that one's. */
  readonly sentence: string;
  /** Wait that a field of the report asks for, as written: `34.07s`. */
  readonly wait: string | null;
}

/** Characters of an error's body that are searched. */
export const MOST_READ = 16_384;

/** Parses JSON. Returns null if that fails, e.g. for a bare `NaN`, which Python writes and JSON lacks. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Reads the body of an error, whatever its shape. A text that is no JSON is the sentence. */
export function saidIn(body: unknown): Said {
  const isPage = typeof body === 'string' && body.trimStart().startsWith('<');
  const value = isPage ? 'a web page' : unwrapped(body);
  return { ...factsIn(value), sentence: sentenceIn(value) ?? (typeof body === 'string' ? body : '') };
}

/**
 * Returns what a body or an event says if it is a failure and no answer, else null. A failure may be
 *
 * - `error`, as text, object or list (most vendors), also in the first of the `choices` (OpenRouter);
 * - `{"type":"error"}` (Anthropic, OpenAI's streams) or `{"object":"error"}` (vLLM, Mistral);
 * - `error_type`, `error_message` and their like, or a list of `errors` (Cloudflare's Workers AI);
 * - a `base_resp` whose status is not 0 (MiniMax);
 * - a `detail` (FastAPI), or a `message` with a `code` (Alibaba), `statusCode` or `status` of a failure, if nothing of an
 *   answer is beside it.
 */
export function reportIn(body: unknown): Said | null {
  const [value] = listOf(body);
  return isReport(fieldsOf(value)) ? saidIn(value) : null;
}

type Fields = Readonly<Record<string, unknown>>;

function isReport(fields: Fields): boolean {
  const { error, type, object, errors, choices, base_resp: base, detail, message } = fields;
  const told = [error, errors, fieldsOf(base).status_code, fieldsOf(listOf(choices)[0]).error];
  const named = Object.entries(fields).flatMap(([key, value]) => (NAMES_ERROR.test(key) ? [value] : []));
  if ([type, object].includes('error') || [...told, ...named].some(saysMore)) return true;
  const isAnswer = Object.keys(fields).some((key) => OF_AN_ANSWER.has(key));
  return !isAnswer && (saysMore(detail) || (typeof message === 'string' && isOfFailure(fields)));
}

/** Whether the fields beside a message say that it is about a failure. */
function isOfFailure({ code, status, statusCode, success }: Fields): boolean {
  const isBad = [status, statusCode].some((state) =>
    /^(?:[45]\d\d|\w{0,20}(?:error|fail)\w{0,20})$/i.test(String(state)),
  );
  return isBad || saysMore(code) || success === false;
}

/** Fields such as `error_type`, `errorMessage` and `err_code`. */
const NAMES_ERROR = /^err(?:or)?_?(?:type|message|msg|code|name|info|description)$/i;

/** Fields of an answer or of its parts, in every vendor's API. */
const OF_AN_ANSWER = new Set(
  'choices candidates content delta output response usage usageMetadata message_start promptFeedback item'.split(
    ' ',
  ),
);

/** Whether a field that names a failure names one: a success has it empty, `0` or `ok`. */
function saysMore(value: unknown): boolean {
  if (typeof value === 'string')
    return value.trim() !== '' && !/^(?:0|200|ok|success|none|null)$/i.test(value.trim());
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value) && value !== 200;
}

/** Fields that hold a sentence, the most telling first. Any of them may hold another object instead. */
const SENTENCES = [
  ...['error', 'errors', 'message', 'msg', 'error_message', 'errorMessage', 'error_msg', 'errmsg'],
  ...['status_msg', 'detail', 'error_description', 'description', 'title', 'base_resp', 'choices'],
];

/** Levels of nested objects and of JSON within texts that are read. */
const MOST_LEVELS = 6;
/** Entries of one list that are read. */
const MOST_ENTRIES = 10;

function sentenceIn(value: unknown, level = 0): string | null {
  if (level > MOST_LEVELS) return null;
  const inner = unwrapped(value);
  const text = typeof value === 'string' && value.trim() !== '' ? value : null;
  if (typeof inner !== 'object' || inner === null) return text;
  const below = (part: unknown): string | null => sentenceIn(part, level + 1);
  return firstOf(Array.isArray(inner) ? inner : sentencesOf(inner as Fields), below) ?? text;
}

function sentencesOf(fields: Fields): unknown[] {
  // OpenRouter says "Provider returned error", and keeps the provider's own answer here.
  return [fieldsOf(fields.metadata).raw, ...SENTENCES.map((key) => fields[key])];
}

function firstOf<Item>(items: readonly Item[], read: (item: Item) => string | null): string | null {
  for (const item of items.slice(0, MOST_ENTRIES * 2)) {
    const found = read(item);
    if (found !== null) return found;
  }
  return null;
}

const HOLDS_CODE =
  /^(?:code|type|status|object|reasons?|source|\w{1,30}_(?:code|type|status|reason|source)|\w{1,30}(?:Code|Type|Status|Reason)|quota_?id)$/i;
const HOLDS_WAIT = /^retry_?(?:after|delay|in)(?:_?(ms|s|secs|seconds|milliseconds))?$/i;
/** Fields in which a server repeats the request. */
const REPEATS = new Set(['input', 'messages', 'prompt', 'request', 'body', 'ctx', 'headers']);
const LONGEST_CODE = 120;
const MOST_CODES = 40;

/** Collects codes, the named status and the wait from all levels of a report. */
function factsIn(value: unknown): Pick<Said, 'status' | 'codes' | 'wait'> {
  const fields = fieldsIn(value);
  const codes = fields
    .flatMap(([key, held]) => (HOLDS_CODE.test(key) ? listOf(held).filter(isShort).map(String) : []))
    .slice(0, MOST_CODES);
  const status = codes.find((code) => /^[45]\d\d$/.test(code));
  const [wait = null] = fields.flatMap(([key, held]) => {
    const [name, unit] = HOLDS_WAIT.exec(key) ?? [];
    return name !== undefined && isShort(held) ? [withUnit(held, unit)] : [];
  });
  return { status: status === undefined ? null : Number(status), codes, wait };
}

/** Returns the fields of all levels, also of JSON within texts. */
function fieldsIn(value: unknown, level = 0): [key: string, held: unknown][] {
  const part = unwrapped(value);
  if (typeof part !== 'object' || part === null || level > MOST_LEVELS) return [];
  if (Array.isArray(part)) return listOf(part).flatMap((entry) => fieldsIn(entry, level + 1));
  const own = Object.entries(part).slice(0, MOST_CODES);
  return own.flatMap(([key, held]) => [[key, held], ...(REPEATS.has(key) ? [] : fieldsIn(held, level + 1))]);
}

function withUnit(held: string | number, unit: string | undefined): string {
  if (!/^[\d.]{1,20}$/.test(String(held))) return String(held);
  return `${held}${unit !== undefined && /^m/i.test(unit) ? 'ms' : 's'}`;
}

function isShort(value: unknown): value is string | number {
  return (
    typeof value === 'number' || (typeof value === 'string' && value !== '' && value.length <= LONGEST_CODE)
  );
}

/** Returns the object within a text that is JSON, and everything else as it is. */
function unwrapped(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > MOST_READ * 64) return value;
  const inner = /^\s{0,99}[[{]/.test(value) ? parseJson(value) : null;
  return typeof inner === 'object' && inner !== null ? inner : value;
}

function fieldsOf(value: unknown): Fields {
  return Object(value) as Fields;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MOST_ENTRIES) : [value];
}

const WRITTEN =
  /^(?:text|content|thinking|reasoning|reasoning_content|refusal|arguments|partial_json|delta)$/;

/** Whether an event or a body holds anything that the model wrote: a failure after that may have been billed. */
export function holdsOutput(value: unknown, level = 0): boolean {
  if (typeof value !== 'object' || value === null || level > MOST_LEVELS + 2) return false;
  return Object.entries(value).some(([key, held]) =>
    typeof held === 'string' ? held !== '' && WRITTEN.test(key) : holdsOutput(held, level + 1),
  );
}
