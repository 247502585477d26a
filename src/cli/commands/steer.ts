import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ConductorClient } from '../../client/conductor-client';
import { liveUsers } from '../../local/lease';
import { reasonOf } from '../../local/reason-of';
import type { HeldLimits, LimitsChange } from '../../protocol/messages';
import { counted, describeMs, describeUsd } from '../../trace/describe';
import { readPlan } from '../approval/plan-file';
import { EXIT, type ExitCode, UsageError } from '../exit-code';
import { watchOf } from '../follow-run';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { watchForAbsence } from '../queues';
import { type Session, withRun } from '../session';
import { FOLDER } from '../settings';
import { print, say } from '../terminal';

interface FileOptions {
  readonly config?: string;
}

/** What `limits` changes; null: no such limit. */
interface LimitsOptions extends FileOptions {
  readonly maxCost?: number | null;
  readonly calls?: number;
  readonly tokens?: number | null;
  /** Milliseconds. */
  readonly wallClock?: number;
  readonly steps?: number;
}

/** `depth`: how deep the Conductor may call itself; null: no limit. */
export function changeDepth(id: string, depth: number | null, options: FileOptions): Promise<ExitCode> {
  return steerRun(id, options, async (conductor) => {
    await conductor.setMaxDepth(id, depth);
    say(`Run ${id}: depth ${depth ?? 'without limit'}. Children that have already started go on.`);
  });
}

/** `hint`: something for the Conductor to consider. */
export function addHint(id: string, text: string, options: FileOptions): Promise<ExitCode> {
  return steerRun(id, options, async (conductor) => {
    await conductor.addHint(id, text);
    say(`Run ${id}: the Conductor reads it with its next call, if there is one.`);
  });
}

/** `limits`: changes those that are named, and prints all that then hold. */
export function changeLimits(id: string, options: LimitsOptions): Promise<ExitCode> {
  const { maxCost: costUsd, calls, tokens, wallClock: wallClockMs, steps } = options;
  return steerRun(id, options, async (conductor) => {
    const change: LimitsChange = { costUsd, calls, tokens, wallClockMs, steps };
    const held = await conductor.setLimits(id, change);
    await print(describeLimits(held));
    const named = Object.entries(change).filter(([, value]) => value !== undefined);
    if (!isDeepStrictEqual({ ...held, ...Object.fromEntries(named) }, held)) {
      say(
        'More than a limit you named is already spent, or set aside for calls under way. It ends there: nothing more is started.',
      );
    }
  });
}

const NAME_COLUMNS = 8;

function describeLimits({ costUsd, calls, tokens, wallClockMs, steps, depth }: HeldLimits): string {
  const held = {
    cost: costUsd === null ? null : describeUsd(costUsd),
    calls,
    tokens: tokens?.toLocaleString('en-US') ?? null,
    time: `${describeMs(wallClockMs)} from its start`,
    steps: `${steps} of one plan`,
    depth,
  };
  return Object.entries(held)
    .map(([name, value]) => `${name.padEnd(NAME_COLUMNS)}${value ?? 'no limit'}`)
    .join('\n');
}

/** `approve`: decides on the plan that waits, which may be replaced or rejected with a reason. */
export async function approve(
  id: string,
  options: FileOptions & { readonly edit?: string; readonly reject?: string },
): Promise<ExitCode> {
  const { edit, reject } = options;
  const written = edit === undefined ? '' : await readText(edit);
  return steerRun(id, options, async (conductor) => {
    if (edit !== undefined) {
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

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`${file} cannot be read (${reasonOf(cause)}): name a file with a plan`, { cause });
  }
}

/** Sends a message to a run, and says what to do where no process is there to go on with it. */
function steerRun(
  id: string,
  options: FileOptions,
  steer: (conductor: ConductorClient) => Promise<void>,
): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withRun(id, options, 'steer', async (session) => {
    const stopLooking = watchForAbsence(session, id);
    try {
      const done = steer(session.conductor).then(() => true);
      if ((await unlessInterrupted(interruption, done)) === undefined) {
        say(`Interrupted. Run ${id} may still do what it was asked to, once a worker answers for it.`);
        return EXIT.interrupted;
      }
      if (!(await isServed(session)))
        say(`No worker runs it now; go on with: ${watchOf(id, options.config)}`);
      return EXIT.answered;
    } finally {
      stopLooking();
    }
  });
}

/** A server elsewhere cannot tell; beside the embedded one, the folder's other processes are the workers. */
async function isServed({ server }: Session): Promise<boolean> {
  if (!server.embedded) return true;
  const users = await liveUsers(resolve(FOLDER));
  return users.some(({ pid }) => pid !== process.pid);
}
