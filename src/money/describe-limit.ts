import { counted } from '../trace/counted';
import { describeUsd } from '../trace/describe';
import type { Refusal, SpendingLimit } from './refusal';

/** Why no call may begin, in a sentence: what it may come to, what which limit leaves, and what to do. */
export function describeLimit({ limit, needed, left, mayFitLater }: Refusal): string {
  const { name, amount, remedy } = WORDS[limit];
  const later = mayFitLater ? ' until calls under way give back what they do not use' : '';
  return (
    `the next call may come to ${amount(needed, Math.ceil)}, and ${name} leaves ${amount(left, Math.floor)}${later}; ` +
    remedy
  );
}

type Rounding = (value: number) => number;

interface Words {
  readonly name: string;
  readonly amount: (value: number, round: Rounding) => string;
  readonly remedy: string;
}

const WORDS: Readonly<Record<SpendingLimit, Words>> = {
  calls: {
    name: 'limits.calls',
    amount: (calls) => counted(calls, 'request'),
    remedy: 'raise limits.calls',
  },
  tokens: {
    name: 'limits.tokens',
    amount: (tokens) => `${tokens.toLocaleString('en-US')} tokens`,
    remedy: 'raise limits.tokens, or lower maxOutputTokens of its worker',
  },
  cost: {
    name: 'limits.costUsd',
    amount: dollars,
    remedy: 'raise limits.costUsd (--max-cost), or lower maxOutputTokens of its worker',
  },
};

/** What is needed is rounded up and what is left down: no sentence shall say that 0.0100 is too little for 0.0100. */
function dollars(nanoUsd: number, round: Rounding): string {
  const digit = nanoUsd < 1e9 ? 1e5 : 1e7;
  return describeUsd((round(nanoUsd / digit) * digit) / 1e9);
}
