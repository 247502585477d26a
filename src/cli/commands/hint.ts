import type { ExitCode } from '../exit-code';
import { steerRun } from '../steer-run';
import { say } from '../terminal';

/** Tells the Conductor something to mind. */
export function hint(id: string, text: string, { config }: { readonly config?: string }): Promise<ExitCode> {
  return steerRun(id, config, async (conductor) => {
    await conductor.addHint(id, text);
    say(`Told run ${id}: the Conductor reads it with its next call, if there is one.`);
  });
}
