import { readFile } from 'node:fs/promises';
import { counted } from '../../trace/describe';
import { readPlan } from '../approval/read-plan';
import { type ExitCode, UsageError } from '../exit-code';
import { say } from '../terminal';
import { steerRun } from './steer';

/** The options of `approve`: another plan, or a reason why there shall be another, or neither. */
export interface ApproveOptions {
  readonly config?: string;
  readonly edit?: string;
  readonly reject?: string;
}

/** Decides on the plan that waits for approval. */
export async function approve(id: string, { config, edit, reject }: ApproveOptions): Promise<ExitCode> {
  const written = edit === undefined ? null : await read(edit);
  return steerRun(id, config, async (conductor) => {
    if (edit !== undefined && written !== null) {
      const plan = readPlan(written, edit, await conductor.planContext(id));
      const { steps } = await conductor.editPlan(id, plan);
      say(`Run ${id} goes on with the plan of ${edit}: ${counted(steps.length, 'step')}.`);
    } else if (reject !== undefined) {
      await conductor.rejectPlan(id, reject);
      say(`Rejected. The Conductor of run ${id} writes another plan.`);
    } else {
      await conductor.approvePlan(id);
      say(`Approved. Run ${id} goes on.`);
    }
  });
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file} cannot be read (${reason}): name a file with a plan`, { cause: error });
  }
}
