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
export function readJson(text: string): unknown {
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
 * - a `detail` (FastAPI), or a `message` with a `code` (Alibaba), if nothing of an answer is beside it.
 */
export function reportIn(body: unknown): Said | null {
  const [value] = listOf(body);
  return isReport(fieldsOf(value)) ? saidIn(value) : null;
}

type Fields = Readonly<Record<string, unknown>>;

function isReport(fields: Fields): boolean {
  const { error, type, object, errors, choices, base_resp: base, detail, message, code } = fields;
  if (saysMore(error) || type === 'error' || object === 'error') return true;
  if (Object.entries(fields).some(([key, value]) => NAMES_ERROR.test(key) && saysMore(value))) return true;
  if (Array.isArray(errors) && errors.length > 0) return true;
  if (saysMore(fieldsOf(base).status_code)) return true;
  if (saysMore(fieldsOf(listOf(choices)[0]).error)) return true;
  if (Object.keys(fields).some((key) => OF_AN_ANSWER.has(key))) return false;
  return saysMore(detail) || (typeof message === 'string' && saysMore(code));
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
  if (typeof value === 'string') {
    const inner = unwrapped(value);
    const said = typeof inner === 'string' ? value : (sentenceIn(inner, level + 1) ?? value);
    return said.trim() === '' ? null : said;
  }
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return firstOf(value, (entry) => sentenceIn(entry, level + 1));
  const fields = value as Fields;
  // OpenRouter says "Provider returned error", and keeps the provider's own answer here.
  const upstream = sentenceIn(fieldsOf(fields.metadata).raw, level + 1);
  return upstream ?? firstOf(SENTENCES, (key) => sentenceIn(fields[key], level + 1));
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
  const codes: string[] = [];
  let [status, wait]: [number | null, string | null] = [null, null];
  const read = (part: unknown, level: number): void => {
    const inner = typeof part === 'string' && /^\s{0,9}[[{]/.test(part) ? unwrapped(part) : part;
    if (typeof inner !== 'object' || inner === null || level > MOST_LEVELS || codes.length >= MOST_CODES)
      return;
    if (Array.isArray(inner)) {
      for (const entry of inner.slice(0, MOST_ENTRIES)) read(entry, level + 1);
      return;
    }
    for (const [key, held] of Object.entries(inner).slice(0, MOST_CODES)) {
      const [name, unit] = HOLDS_WAIT.exec(key) ?? [];
      if (name !== undefined && isShort(held)) wait ??= withUnit(held, unit);
      else if (HOLDS_CODE.test(key)) for (const code of listOf(held)) if (isShort(code)) note(String(code));
      if (!REPEATS.has(key)) read(held, level + 1);
    }
  };
  const note = (code: string): void => {
    codes.push(code);
    const named = /^[1-5]\d\d$/.test(code) ? Number(code) : 0;
    if (named >= 400) status ??= named;
  };
  read(value, 0);
  return { status, codes, wait };
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
  const inner = /^\s{0,99}[[{]/.test(value) ? readJson(value) : null;
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
