/** The task of whoever judges answers; the texts and the words to choose from are its question. */
export const JUDGE = 'Judge an answer.';

/** The last line of a reply, where a judge's verdict stands, without typesetting. */
export function lastLineOf(reply: string): string {
  const line = reply.trimEnd().slice(-200).split('\n').at(-1) ?? '';
  return line.replace(/[`*.]/g, '').trim();
}
