/** Puts a text between tags. */
export type Fence = (tag: string, text: string) => string;

/**
 * A fence that none of the texts can climb: `<answer>…</answer>` where no text holds such a tag, else
 * `<answer-2>…</answer-2>`, with the first number that no text uses.
 *
 * So a worker's output that imitates our tags, by accident or to pose as another step, stays visibly inside its own,
 * and no text need be altered.
 */
export function fenceAround(texts: readonly string[]): Fence {
  const taken = new Set(texts.flatMap((text) => [...text.matchAll(TAG)].map(([, mark = '']) => mark)));
  let mark = '';
  for (let number = 2; taken.has(mark); number += 1) mark = `-${number}`;
  return (tag, text) => `<${tag}${mark}>\n${text}\n</${tag}${mark}>`;
}

/** Any opening or closing tag of ours, in any case and however spaced; group 1 is the mark that tells fences apart. */
const TAG = /<[\s/]{0,8}(?:question|subtask|answer|your_subtask)(-\d{1,9})?\b/giu;
