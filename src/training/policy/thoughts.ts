import type { KeptSample } from '../activities/batch';
import type { ThoughtsEnd } from '../trainer-contract';
import type { Addressing } from './chat';
import { POLICY_FAILURES, PolicyError } from './errors';

/** Returns what ends a policy's thoughts. @throws PolicyError `Policy.NoManifest` if nothing tells it */
export function thoughtsOf(chat: Addressing, model: string): ThoughtsEnd {
  const thoughts = chat === 'chatml' ? null : chat.thoughts;
  if (thoughts) return thoughts;
  throw new PolicyError(
    POLICY_FAILURES.noManifest,
    `the manifest of ${model} says that it thinks, but not where its thoughts end`,
    'Set training.policy.thinking to off, or begin another training run from a model such as Qwen3.',
  );
}

/**
 * Takes the thoughts out of a reply: all up to the model's own token that ends them. A reply without it is nothing but
 * thoughts, which hold no plan, whatever they drafted; likewise one that also spells the token out in others, since its
 * text no longer tells where they end.
 */
export function withoutThoughts<Reply extends Pick<KeptSample, 'text' | 'completionTokenIds'>>(
  reply: Reply,
  { end, text }: ThoughtsEnd,
): Reply & Pick<KeptSample, 'thoughtTokens'> {
  const ends = reply.completionTokenIds.filter((token) => token === end).length;
  const [, ...behind] = reply.text.split(text);
  if (ends === 0 || behind.length !== ends) {
    return { ...reply, text: '', thoughtTokens: reply.completionTokenIds.length };
  }
  return {
    ...reply,
    text: behind.join(text).trimStart(),
    thoughtTokens: reply.completionTokenIds.indexOf(end) + 1,
  };
}
