// Tags between which models write their thoughts, where a server does not send these apart.

/** Names of XML-like tags, some with a vendor's prefix: `seed:think`, `longcat_think`. */
const NAME = '(?:[a-z]{1,12}[:_])?(?:think|thinking|thoughts?|reasoning)';

const ATTRIBUTE = `\\s{1,8}[a-z_:][\\w:-]{0,40}\\s?=\\s?(?:"[^"<>]{0,100}"|'[^'<>]{0,100}'|[^\\s"'<>/]{1,100})`;

/** Header of a message of gpt-oss, with its channel. */
const HEADER =
  '(?:<\\|start\\|>assistant)?<\\|channel\\|>[a-z]{1,20}[^<]{0,100}(?:<\\|constrain\\|>[^<]{0,40})?<\\|message\\|>';

/**
 * The next tag.
 *
 * - `<think>` and its like: chat templates of Qwen 3, DeepSeek R1, GLM 4.5, MiniMax M2 (https://huggingface.co), and
 *   https://docs.vllm.ai/en/latest/features/reasoning_outputs.html; `<thought>`: EXAONE Deep; `<seed:think>`: Seed-OSS
 * - `[THINK]`: https://docs.mistral.ai/capabilities/reasoning
 * - `◁think▷`: https://huggingface.co/moonshotai/Kimi-VL-A3B-Thinking
 * - `<|channel|>analysis<|message|>`: https://cookbook.openai.com/articles/openai-harmony
 * - `<|channel>thought`: chat template of Gemma 4
 */
export const EACH_TAG = new RegExp(
  `</?${NAME}(?:${ATTRIBUTE}){0,3}\\s{0,8}/?>|\\[/?THINK\\]|◁/?think▷|${HEADER}|<\\|(?:end|call|return)\\|>|<\\|channel>thought(?![a-z])|<channel\\|>`,
  'giu',
);

/** More than the characters of any tag. */
const MOST_TAG = 700;

const XML_BEGUN = '</?(?:[a-z:_]{0,24}|[a-z:_]{5,24}[\\s/][^<>]{0,600})';
const HEADER_BEGUN =
  '<\\|(?:start|channel)\\|>[^<]{0,130}(?:<\\|(?:channel|constrain)\\|>[^<]{0,130}){0,2}(?:<(?:\\|[a-z]{0,10}\\|?)?)?';

/** A text that may become a tag with what follows. */
const BEGUN = new RegExp(
  `^(?:${XML_BEGUN}|\\[/?[A-Z]{0,5}|◁/?[a-z]{0,5}|${HEADER_BEGUN}|<\\|[a-z]{0,10}\\|?|<\\|channel>[a-z]{0,7}|<channel\\|?)$`,
  'iu',
);

/** Returns where a tag may begin that the text's end has cut off, or the given index if that comes first. */
export function tagBegunAt(text: string, most: number): number {
  const from = Math.max(0, text.length - MOST_TAG);
  // A text of many tags is asked about at each of them, so nothing is searched far from its end.
  if (most <= from) return most;
  const begun = [...text.slice(from, most).matchAll(/[<[◁]/gu)].find(({ index }) =>
    isTagBegun(text.slice(from + index)),
  );
  return begun === undefined ? most : from + begun.index;
}

/** Whether a whole text may become a tag. */
export function isTagBegun(text: string): boolean {
  return text.length < MOST_TAG && BEGUN.test(text);
}

export interface Tag {
  /**
   * `open` and `close` are the two ends of a block, `empty` is both. `answer` ends a block, if there is one, and begins
   * the answer. `end` ends a message of gpt-oss, thoughts or not.
   */
  readonly kind: 'open' | 'close' | 'empty' | 'answer' | 'end';
  /** A block ends with a tag of the same name. */
  readonly name: string;
  /** Made of a model's special tokens, which no sentence contains. */
  readonly isToken: boolean;
}

export interface FoundTag extends Tag {
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

/** Finds the first tag of a text, or the first one from an index on. */
export function findTag(text: string, from = 0): FoundTag | null {
  EACH_TAG.lastIndex = from;
  for (let match = EACH_TAG.exec(text); match !== null; match = EACH_TAG.exec(text)) {
    const [found] = match;
    const tag = readTag(found);
    if (tag !== null) return { ...tag, at: match.index, end: EACH_TAG.lastIndex, text: found };
  }
  return null;
}

/** Returns what follows the last tag of a text, or the whole text. */
export function behindTags(text: string): string {
  let end = 0;
  for (let found = findTag(text); found !== null; found = findTag(text, end)) ({ end } = found);
  return text.slice(end);
}

/** Reads a text that the pattern matches; null if it is no tag after all. */
function readTag(text: string): Tag | null {
  if (/^<\|?channel/.test(text) || text.startsWith('<|')) return readToken(text);
  // In lower case, it may be the text of a link.
  if (text.startsWith('[') && text !== text.toUpperCase()) return null;
  const [, slash, name = ''] = /^.(\/?)([a-z_:]{1,30})/i.exec(text) ?? [];
  const opening = text.endsWith('/>') ? 'empty' : 'open';
  return {
    kind: slash === '/' ? 'close' : opening,
    name: `${text.charAt(0)}${name.toLowerCase()}`,
    isToken: false,
  };
}

function readToken(text: string): Tag {
  const token = (kind: Tag['kind'], name: string): Tag => ({ kind, name, isToken: true });
  if (!text.startsWith('<|')) return token('close', 'channel');
  if (text.startsWith('<|channel>')) return token('open', 'channel');
  const [, channel] = /<\|channel\|>([a-z]{1,20})/i.exec(text) ?? [];
  if (channel === undefined) return token('end', 'message');
  return token(channel.toLowerCase() === 'final' ? 'answer' : 'open', 'message');
}
