import type { ChangedRequest } from '../protocol/tool-use';
import type { Store } from '../store/store';
import { readText } from '../store/texts';
import { describeMisfit, fitSchema } from './fit-schema';
import { readOffered } from './tool-turns';

/**
 * Checks the arguments that a person puts in place of a model's, against the schema of their tool in a run's list.
 * A schema that cannot be used here is left to the tool. Returns what does not fit, or null.
 */
export async function checkArguments(
  store: Store,
  {
    list,
    tool: { name: tool },
    input,
  }: Pick<ChangedRequest, 'list' | 'input'> & { readonly tool: { readonly name: string } },
): Promise<string | null> {
  const offered = (await readOffered(store, list)).find(({ name }) => name === tool);
  if (offered === undefined) return null;
  const value = await readText(store, input);
  const misfit = describeMisfit(await fitSchema({ schema: JSON.stringify(offered.input), value }));
  return misfit === null ? null : `the arguments do not fit the tool ${tool}: ${misfit}`;
}
