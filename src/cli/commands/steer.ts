import { readFile } from 'node:fs/promises';
import type { ConductorClient } from '../../client/conductor-client';
import { isPolled } from '../../client/pollers';
import { reasonOf } from '../../errors';
import type { HeldLimits, LimitsChange } from '../../protocol/messages';
import { counted, describeMs, describeUsd } from '../../trace/describe';
import { readPlan } from '../approval/plan-file';
import { EXIT, type ExitCode, UsageError } from '../exit-code';
import { withRun } from '../find-run';
import { watchOf } from '../follow-run';
import { listenForInterruption } from '../interruption';
import { checkServed, whileWatching } from '../queues';
import type { WorkOptions } from '../load-settings';
import { print, say } from '../terminal';

/** Options of `limits`; null: no such limit. */
interface LimitsOptions extends WorkOptions {
  readonly maxCost?: number | null;
  readonly calls?: number;
  readonly tokens?: number | null;
  /** Milliseconds. */
  readonly wallClock?: number;
  readonly steps?: number;
}

/** `depth`: how deep the Conductor may call itself; null: no limit. */
export function changeDepth(given: string, depth: number | null, options: WorkOptions): Promise<ExitCode> {
  return steerRun(given, options, async (conductor, id) => {
    await conductor.setMaxDepth(id, depth);
    say(`Run ${id}: depth ${depth ?? 'without limit'}. Children that have already started go on.`);
  });
}

/** `hint`: something for the Conductor to consider. */
export function addHint(given: string, text: string, options: WorkOptions): Promise<ExitCode> {
  return steerRun(given, options, async (conductor, id) => {
    await conductor.addHint(id, text);
    say(`Run ${id}: the Conductor reads it with its next call, if there is one.`);
  });
}

/** `limits`: changes those that are named, and prints all that then hold. */
export function changeLimits(given: string, options: LimitsOptions): Promise<ExitCode> {
  const { maxCost: costUsd, calls, tokens, wallClock: wallClockMs, steps } = options;
  return steerRun(given, options, async (conductor, id) => {
    const asked: LimitsChange = { costUsd, calls, tokens, wallClockMs, steps };
    const held = await conductor.setLimits(id, asked);
    await print(describeLimits(held));
    const missed = LIMITS.filter((key) => asked[key] !== undefined && asked[key] !== held[key]);
    if (missed.length > 0 || held.remainingMs === 0) {
      const names = missed.map((key) => SHOWN_AS[key]).join(', ');
      say(
        `${names === '' ? 'time' : names}: used up already, or set aside for calls and children under way. The run starts ` +
          'nothing more, and ends with what it has.',
      );
    }
    if (typeof costUsd === 'number' && (await hasUnknownPrice(conductor, id))) {
      say(
        'cost: of some calls the price is unknown, and they count as nothing here; limits on calls and tokens bind them.',
      );
    }
  });
}

async function hasUnknownPrice(conductor: ConductorClient, id: string): Promise<boolean> {
  const { costIsLowerBound, estimate } = await conductor.trace(id);
  return costIsLowerBound || estimate?.nanoUsd === null;
}

const SHOWN_AS = {
  costUsd: 'cost',
  calls: 'calls',
  tokens: 'tokens',
  wallClockMs: 'time',
  steps: 'steps',
  depth: 'depth',
} as const satisfies Record<keyof LimitsChange, string>;

const LIMITS = Object.keys(SHOWN_AS) as (keyof LimitsChange)[];

const NAME_COLUMNS = 8;

function describeLimits(held: HeldLimits): string {
  return Object.entries(shownLimits(held))
    .map(([name, value]) => `${name.padEnd(NAME_COLUMNS)}${value}`)
    .join('\n');
}

function shownLimits({ costUsd, calls, tokens, wallClockMs, remainingMs, steps, depth }: HeldLimits) {
  return {
    cost: costUsd === null ? 'no limit' : describeUsd(costUsd),
    calls: String(calls),
    tokens: tokens?.toLocaleString('en-US') ?? 'no limit',
    time: `${describeMs(wallClockMs)} from its start, ${describeMs(remainingMs)} left`,
    steps: `${steps} of one plan`,
    depth: String(depth ?? 'no limit'),
  };
}

/** `approve`: decides on the plan that waits, which may be replaced or rejected with a reason. */
export async function approve(
  given: string,
  options: WorkOptions & { readonly edit?: string; readonly reject?: string },
): Promise<ExitCode> {
  const { edit, reject } = options;
  const written = edit === undefined ? '' : await readText(edit);
  return steerRun(given, options, async (conductor, id) => {
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
  given: string,
  options: WorkOptions,
  steer: (conductor: ConductorClient, id: string) => Promise<void>,
): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withRun(given, options, 'steer', async (session, id) => {
    const done = steer(session.conductor, id).then(() => true);
    if ((await whileWatching(session, id, interruption, done)) === undefined) {
      say(`Interrupted. Run ${id} may still do what it was asked to, once a worker answers for it.`);
      return EXIT.interrupted;
    }
    if (!session.server.embedded) await checkServed(session);
    else if (!(await isPolled(session.temporal, session.config.temporal.taskQueue, 'activities')))
      say(`No worker runs it now; go on with: ${watchOf(id, options.config)}`);
    return EXIT.answered;
  });
}
