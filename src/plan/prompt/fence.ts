export type Fence = (tag: string, text: string) => string;

/** Any opening or closing tag of ours, in any case and however spaced; group 1 is the mark that tells fences apart. */
const TAG =
  /<[\s/]{0,8}(?:question|subtask|answer|your_subtask|answer_schema|system|user|assistant)(-\d{1,9})?\b/giu;

/** A fence that no text can climb: `<answer>…</answer>`, or `<answer-2>…` with the first number that no text uses. */
export function fenceAround(texts: readonly string[]): Fence {
  const taken = new Set(texts.flatMap((text) => [...text.matchAll(TAG)].map(([, mark = '']) => mark)));
  let mark = '';
  for (let number = 2; taken.has(mark); number += 1) mark = `-${number}`;
  return (tag, text) => `<${tag}${mark}>\n${text}\n</${tag}${mark}>`;
}
