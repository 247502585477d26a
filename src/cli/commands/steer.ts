import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Option } from 'commander';
import type { ConductorClient } from '../../client/conductor-client';
import { liveUsers } from '../../local/lease';
import { reasonOf } from '../../local/reason-of';
import type { HeldLimits, LimitsChange } from '../../protocol/messages';
import { counted, describeUsd, describeMs } from '../../trace/describe';
import { readPlan } from '../approval/plan-file';
import {
  type AddCommands,
  CONFIG,
  readCalls,
  readCount,
  readDepth,
  readDuration,
  readTokens,
  readUsd,
} from '../arguments';
import { EXIT, type ExitCode, UsageError } from '../exit-code';
import { explainUnknown, watchOf } from '../follow-run';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { type Session, withSession } from '../session';
import { FOLDER, loadSettings } from '../settings';
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

/** Another plan, or a reason why there must be another, or neither. */
interface ApproveOptions extends FileOptions {
  readonly edit?: string;
  readonly reject?: string;
}

/** `depth`, `limits`, `approve` and `hint`: commands that change a run while it goes on. */
export const addSteering: AddCommands = (program, settle) => {
  program
    .command('depth')
    .description('change how deep the Conductor may call itself, in children under way too')
    .argument('<id>')
    .argument('<number>', '0: not at all; none: no limit', readDepth)
    .option(...CONFIG)
    .action(async (id: string, depth: number | null, { config }: FileOptions) => {
      const change = async (conductor: ConductorClient): Promise<void> => {
        await conductor.setMaxDepth(id, depth);
        say(`Told run ${id}: depth ${depth ?? 'without limit'}. Children that have started already go on.`);
      };
      settle(await steerRun(id, config, change));
    });

  program
    .command('limits')
    .description('change what a run and its children may use, and print what then holds')
    .argument('<id>')
    .option('--max-cost <usd>', 'none: no limit', readUsd)
    .option('--calls <number>', 'requests to models', readCalls)
    .option('--tokens <number>', 'input and output; none: no limit', readTokens)
    .option('--wall-clock <duration>', 'from the start of the run, e.g. 30m', readDuration)
    .option('--steps <number>', 'of one plan', readCount)
    .option(...CONFIG)
    .action(async (id: string, options: LimitsOptions) => {
      settle(await changeLimits(id, options));
    });

  program
    .command('approve')
    .description('let the plan run that waits for approval, or another one, or none')
    .argument('<id>')
    .option('--edit <file>', 'run this plan instead: YAML, JSON or the three lists')
    .addOption(
      new Option('--reject <reason>', 'have the Conductor write another one, told why').conflicts('edit'),
    )
    .option(...CONFIG)
    .action(async (id: string, options: ApproveOptions) => {
      settle(await approve(id, options));
    });

  program
    .command('hint')
    .description('tell the Conductor something to mind, from its next call on')
    .argument('<id>')
    .argument('<text>')
    .option(...CONFIG)
    .action(async (id: string, text: string, { config }: FileOptions) => {
      const change = async (conductor: ConductorClient): Promise<void> => {
        await conductor.addHint(id, text);
        say(`Told run ${id}: the Conductor reads it with its next call, if there is one.`);
      };
      settle(await steerRun(id, config, change));
    });
};

/** Waiting for longer than this is explained. */
const PATIENCE_MS = 5_000;

/**
 * Changes a run, and says what to do where no process is there to go on with it.
 *
 * @param steer sends the message, and says what came of it
 * @throws UsageError for an unknown run, RefusedError where the run does not do it
 */
async function steerRun(
  id: string,
  file: string | undefined,
  steer: (conductor: ConductorClient) => Promise<void>,
): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadSettings(file);
  return withSession(loaded, { file, role: 'steer', used: true }, async (session) => {
    const patience = setTimeout(() => {
      say(`Waiting for a worker that answers for run ${id}: start one with "temporal-conductor worker" …`);
    }, PATIENCE_MS);
    try {
      const done = steer(session.conductor).then(() => true);
      if ((await unlessInterrupted(interruption, done)) === undefined) {
        say(`Interrupted. Run ${id} may still do what it was asked to, once a worker answers for it.`);
        return EXIT.interrupted;
      }
      if (!(await isServed(session))) say(`Nobody works on it now; go on with: ${watchOf(id, file)}`);
      return EXIT.answered;
    } catch (error) {
      throw explainUnknown(error, id, session);
    } finally {
      clearTimeout(patience);
    }
  });
}

/** On a server elsewhere no one knows; beside the embedded one, the folder's other processes are the workers. */
async function isServed({ server }: Session): Promise<boolean> {
  if (!server.embedded) return true;
  const users = await liveUsers(resolve(FOLDER));
  return users.some(({ pid }) => pid !== process.pid);
}

/** Changes the limits that are named, and prints all that then hold; with none named, those that hold. */
function changeLimits(id: string, options: LimitsOptions): Promise<ExitCode> {
  const { config, maxCost: costUsd, calls, tokens, wallClock: wallClockMs, steps } = options;
  return steerRun(id, config, async (conductor) => {
    const change: LimitsChange = { costUsd, calls, tokens, wallClockMs, steps };
    const held = await conductor.setLimits(id, change);
    await print(describeLimits(held));
    if (!holds(held, change)) {
      say(
        'More is spent, or set aside for what is under way, than some limit you named. It ends there: nothing more is started.',
      );
    }
  });
}

function holds(held: HeldLimits, change: LimitsChange): boolean {
  const named = Object.entries(change).filter(([, value]) => value !== undefined);
  return isDeepStrictEqual({ ...held, ...Object.fromEntries(named) }, held);
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

/** Decides on the plan that waits for approval. */
async function approve(id: string, { config, edit, reject }: ApproveOptions): Promise<ExitCode> {
  const written = edit === undefined ? '' : await readText(edit);
  return steerRun(id, config, async (conductor) => {
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
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${reasonOf(error)}): name a file with a plan`, {
      cause: error,
    });
  }
}
