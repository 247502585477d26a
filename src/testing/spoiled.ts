import type { Reply } from './behaviour';
import type { SpoiledFaultKind } from './faults';

const HUGE_BYTES = 2 * 1024 * 1024;
const REASONING_TOKENS = 64;

/** The reply that a spoiled fault stands for. `maxOutputTokens` is the request's own limit. */
export function spoiledReply(kind: SpoiledFaultKind, maxOutputTokens: number | null): Reply {
  switch (kind) {
    case 'empty':
      return { text: '' };
    case 'refusal':
      return { text: '', finish: 'refusal' };
    case 'filtered':
      return { text: '', finish: 'filtered' };
    case 'length':
      return { text: 'This answer ends in the middle of a', finish: 'length' };
    case 'length-without-text': {
      const reasoningTokens = maxOutputTokens ?? REASONING_TOKENS;
      return { text: '', finish: 'length', usage: { outputTokens: reasoningTokens, reasoningTokens } };
    }
    case 'huge':
      return { text: 'words '.repeat(HUGE_BYTES / 6 + 1).slice(0, HUGE_BYTES) };
  }
}
