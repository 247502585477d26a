export type Fence = (tag: string, text: string) => string;

/** Any of our opening or closing tags, in any case and spacing; group 1 is the mark that tells fences apart. */
const TAG =
  /<[\s/]{0,8}(?:question|subtask|answer|your_subtask|answer_schema|system|user|assistant)(-\d{1,9})?\b/giu;

/** Returns a fence that no text can close: `<answer>…</answer>`, or `<answer-2>…` with the first number not in use. */
export function fenceAround(texts: readonly string[]): Fence {
  const taken = new Set(texts.flatMap((text) => [...text.matchAll(TAG)].map(([, mark = '']) => mark)));
  let mark = '';
  for (let number = 2; taken.has(mark); number += 1) mark = `-${number}`;
  return (tag, text) => `<${tag}${mark}>\n${text}\n</${tag}${mark}>`;
}
