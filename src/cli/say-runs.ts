import { counted } from '../trace/counted';
import { SOLVE_WORKFLOW } from '../protocol/names';
import type { Config } from '../pool/config-schema';
import type { Session } from './open-session';
import { say } from './terminal';

/** Tells of other runs of this folder, left by an earlier command or watched by another: our worker serves them, too. */
export async function sayUnfinished({ server, temporal }: Session, config: Config): Promise<void> {
  // On a server that others share, what runs there is no news to the person here.
  if (!server.embedded) return;
  const query = `WorkflowType = '${SOLVE_WORKFLOW}' AND TaskQueue = '${config.temporal.taskQueue}' AND ExecutionStatus = 'Running'`;
  const { count } = await temporal.workflow.count(query);
  if (count > 0) say(`${counted(count, 'unfinished run')} of this folder will go on as well.`);
}

/** What to do with a run that nobody looks at any more. */
export function sayHowToComeBack(id: string, config: string | undefined): void {
  const option = config === undefined ? '' : ` --config ${config}`;
  say(`Interrupted. Run ${id} is kept; come back to it with: temporal-conductor watch ${id}${option}`);
}
