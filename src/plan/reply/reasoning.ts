import { isRecord } from '../validate';
import { chooseLists } from './lists';

/**
 * Returns the prose of a reply before its plan, for use in an example, without thinking blocks, code fences and JSON
 * braces.
 * @throws PlanError if the reply contains no plan
 */
export function reasoningOf(reply: string): string {
  const written = readJson(reply);
  if (typeof written === 'string') return written.trim();
  const before = reply.slice(0, Math.min(...chooseLists(reply).map(({ at }) => at)));
  const spoken = before.split(/<\/think(?:ing)?>/i).at(-1) ?? '';
  const label = [...spoken.matchAll(/model[ _]?id|sub[ _]?task|access|steps/gi)].at(-1)?.index;
  return trimMarks(spoken.slice(0, label));
}

function readJson(reply: string): unknown {
  try {
    const value: unknown = JSON.parse(reply);
    return isRecord(value) ? value.reasoning : undefined;
  } catch {
    return undefined;
  }
}

/** Trims marks from the end in a loop: a pattern anchored to the end of a text may take quadratic time. */
function trimMarks(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\r\n"\'`*{#-'.includes(text.charAt(end - 1))) end -= 1;
  const rest = text.slice(0, end);
  return rest.replace(/```[a-z]{0,10}$/i, '').trim();
}
