import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Option } from 'commander';
import type { ConductorClient } from '../../client/conductor-client';
import { liveUsers } from '../../local/lease';
import type { HeldLimits, LimitsChange } from '../../protocol/messages';
import { describeMs, describeUsd } from '../../trace/describe';
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
import { attachServer, fitToServer, FOLDER } from '../attach';
import { EXIT, type ExitCode } from '../exit-code';
import { explainUnknown } from '../follow-run';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { openSession, openWorkerSession, type Session } from '../session';
import { loadSettings } from '../settings';
import { print, say } from '../terminal';

/** Commands that change a run while it goes on, and those that end it or begin it anew. */
export const addSteering: AddCommands = (program, settle) => {
  program
    .command('depth')
    .description('change how deep the Conductor may call itself, in children under way too')
    .argument('<id>')
    .argument('<number>', '0: not at all; none: no limit', readDepth)
    .option(...CONFIG)
    .action(async (id: string, limit: number | null, options: object) => {
      const { depth } = await import('./steer.js');
      settle(await depth(id, limit, options));
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
    .action(async (id: string, options: object) => {
      const { limits } = await import('./steer.js');
      settle(await limits(id, options));
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
    .action(async (id: string, options: object) => {
      const { approve } = await import('./approve.js');
      settle(await approve(id, options));
    });

  program
    .command('hint')
    .description('tell the Conductor something to mind, from its next call on')
    .argument('<id>')
    .argument('<text>')
    .option(...CONFIG)
    .action(async (id: string, text: string, options: object) => {
      const { hint } = await import('./steer.js');
      settle(await hint(id, text, options));
    });

  program
    .command('retry')
    .description('run a plan again from a step, as a new run that keeps the outputs before it')
    .argument('<id>')
    .requiredOption('--from <step>', 'number of the step, from 1', readCount)
    .option('--worker <id>', 'another worker for that step')
    .option('--subtask <text>', 'another task for that step')
    .option('--max-cost <usd>', 'for the new run, in place of the earlier limit', readUsd)
    .option('--json', 'print the whole result as JSON')
    .option(...CONFIG)
    .action(async (id: string, options: { from: number }) => {
      const { retry } = await import('./retry.js');
      settle(await retry(id, options));
    });

  program
    .command('cancel')
    .description('stop a run, and wait until it has ended')
    .argument('<id>')
    .option(...CONFIG)
    .action(async (id: string, options: object) => {
      const { cancel } = await import('./cancel.js');
      settle(await cancel(id, options));
    });
};

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

/** Tells the Conductor something to mind. */
export function hint(id: string, text: string, { config }: { readonly config?: string }): Promise<ExitCode> {
  return steerRun(id, config, async (conductor) => {
    await conductor.addHint(id, text);
    say(`Told run ${id}: the Conductor reads it with its next call, if there is one.`);
  });
}

/** The options of `limits`; null: no such limit. */
export interface LimitsOptions {
  readonly config?: string;
  readonly maxCost?: number | null;
  readonly calls?: number;
  readonly tokens?: number | null;
  /** Milliseconds. */
  readonly wallClock?: number;
  readonly steps?: number;
}

/** Changes the limits that are named, and prints all that then hold; with none named, those that hold. */
export function limits(id: string, options: LimitsOptions): Promise<ExitCode> {
  return steerRun(id, options.config, async (conductor) => {
    const change = changeOf(options);
    const held = await conductor.setLimits(id, change);
    await print(describeLimits(held));
    if (!isDeepStrictEqual({ ...held, ...change }, held)) say(PROMISED);
  });
}

const PROMISED =
  'More is spent, or set aside for what is under way, than some limit you named. It ends there: nothing more is begun.';

function changeOf({ maxCost, calls, tokens, wallClock, steps }: LimitsOptions): LimitsChange {
  return {
    costUsd: maxCost,
    calls,
    tokens,
    wallClockMs: wallClock,
    steps,
  };
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

/** Whoever waits longer than this is told for what. */
const PATIENCE_MS = 5_000;

/**
 * Changes a run, and says what to do where nobody is there to go on with it.
 *
 * @param steer sends the message, and says what came of it
 * @throws UsageError for an unknown run, RefusedError where the run does not do it
 */
export async function steerRun(
  id: string,
  config: string | undefined,
  steer: (conductor: ConductorClient) => Promise<void>,
): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const session = await openSteeringSession(config);
  const patience = setTimeout(() => {
    say(`Waiting for a worker that answers for run ${id}: start one with "temporal-conductor worker" …`);
  }, PATIENCE_MS);
  try {
    const done = steer(session.conductor).then(() => true);
    if ((await unlessInterrupted(interruption, done)) === undefined) {
      say(`Interrupted. Run ${id} may still do what it was asked to, once a worker answers for it.`);
      return EXIT.interrupted;
    }
    if (!(await isServed(session))) say(`Nobody works on it now; go on with: ${watchOf(id, config)}`);
    return EXIT.answered;
  } catch (error) {
    throw explainUnknown(error, id, session);
  } finally {
    clearTimeout(patience);
    await session.close();
  }
}

/** On a server elsewhere nobody knows; beside the embedded one, the folder's other processes are the workers. */
async function isServed({ server }: Session): Promise<boolean> {
  if (!server.embedded) return true;
  const users = await liveUsers(resolve(FOLDER));
  return users.some(({ pid }) => pid !== process.pid);
}

function watchOf(id: string, config: string | undefined): string {
  return `temporal-conductor watch ${id}${config === undefined ? '' : ` --config ${config}`}`;
}

/**
 * A session to change a run that there is. Beside the embedded server it brings a worker that answers for the run but
 * makes no call of it: one that was begun now would be broken off, and be paid for, when the command ends.
 *
 * @param named the file that `--config` names, if any
 * @throws UsageError where no run was ever started in this folder
 */
async function openSteeringSession(named: string | undefined): Promise<Session> {
  const loaded = await loadSettings(named);
  const server = await attachServer(loaded, { used: true });
  const config = fitToServer(server, loaded, named);
  return server.embedded
    ? openWorkerSession(server, config, { graceMs: 0, makesCalls: false })
    : openSession(server, config);
}
