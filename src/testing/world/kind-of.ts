import type { Kind } from './world';

const WORDS: Readonly<Record<string, Kind>> = {
  plan: 'plan',
  outline: 'plan',
  sketch: 'plan',
  solve: 'solve',
  answer: 'solve',
  compute: 'solve',
  check: 'verify',
  verify: 'verify',
  review: 'verify',
  refine: 'refine',
  improve: 'refine',
  polish: 'refine',
};

/** What a subtask asks for, told by its first word; anything unknown asks for a solution. */
export function kindOf(subtask: string): Kind {
  const [word = ''] = /\p{Letter}+/u.exec(subtask) ?? [];
  return WORDS[word.toLowerCase()] ?? 'solve';
}
