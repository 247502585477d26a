import { READ_TEXT } from '../protocol/names';
import type { Text } from '../protocol/text';
import { storeActivities } from './activities';

/**
 * Reads a text of a solve's trace whole, in a workflow of your own: long ones are references into the store. Empty for
 * null, which a failed step leaves.
 *
 * @param taskQueue where workers with the plugin poll. @default the workflow's own
 * @throws ActivityFailure for a text over 1 MB, which no workflow should carry: read it in an activity, by `readText`
 */
export async function textOf(text: Text | null, taskQueue?: string): Promise<string> {
  if (text === null) return '';
  return typeof text === 'string' ? text : storeActivities('read a text', taskQueue)[READ_TEXT](text);
}
