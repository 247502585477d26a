import type { ExitCode } from '../exit-code';
import { steerRun } from '../steer-run';
import { say } from '../terminal';

/** Changes how deep the Conductor may call itself from now on. */
export function depth(
  id: string,
  limit: number | null,
  { config }: { readonly config?: string },
): Promise<ExitCode> {
  return steerRun(id, config, async (conductor) => {
    await conductor.setMaxDepth(id, limit);
    say(`Told run ${id}: depth ${limit ?? 'without limit'}. Children that were begun already go on.`);
  });
}
