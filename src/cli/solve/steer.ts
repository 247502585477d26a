import { type ConductorClient, isPolled, requireUnended } from '../../client';
import { UsageError } from '../../errors';
import {
  findHintProblem,
  findRejectionProblem,
  type HeldLimits,
  type LimitsChange,
} from '../../protocol/messages';
import { counted, describeMs, describeUsd } from '../../trace/describe';
import { waitingCalls } from '../../trace/waiting-calls';
import { readArguments, readPlan } from '../kit/view/questions';
import { readAll } from './asked-files';
import { EXIT, type ExitCode, listenForInterruption } from '../kit/ending';
import { withRun } from '../kit/find-run';
import { watchOf } from '../kit/view/follow-run';
import { checkServed, commandOf, whileWatching } from '../kit/queues';
import type { WorkOptions } from '../kit/load-settings';
import { print, say } from '../kit/terminal';

interface LimitsOptions extends WorkOptions, Pick<LimitsChange, 'calls' | 'tokens' | 'steps'> {
  /** null: no limit. */
  readonly maxCost?: number | null;
  /** Milliseconds. */
  readonly wallClock?: number;
}

/** `depth`: sets how deep the Conductor may call itself; null: no limit. */
export function changeDepth(given: string, depth: number | null, options: WorkOptions): Promise<ExitCode> {
  return steerRun(given, options, async (conductor, id) => {
    await conductor.setMaxDepth(id, depth, { asOperator: true });
    say(`Run ${id}: depth ${depth ?? 'without limit'}. Children that have already started go on.`);
  });
}

/** `hint`: gives the Conductor something to consider. */
export async function addHint(given: string, text: string, options: WorkOptions): Promise<ExitCode> {
  refuseUsage(findHintProblem(text));
  return steerRun(given, options, async (conductor, id) => {
    await conductor.addHint(id, text);
    say(`Run ${id}: the Conductor reads it with its next call, if there is one.`);
  });
}

/** `limits`: changes the given limits, and prints all current ones. */
export function changeLimits(given: string, options: LimitsOptions): Promise<ExitCode> {
  const { maxCost: costUsd, calls, tokens, wallClock: wallClockMs, steps } = options;
  return steerRun(given, options, async (conductor, id) => {
    const asked: LimitsChange = { costUsd, calls, tokens, wallClockMs, steps };
    const isLook = Object.values(asked).every((limit) => limit === undefined);
    const held = await (isLook ? conductor.limits(id) : conductor.setLimits(id, asked, { asOperator: true }));
    const shown = showLimits(held);
    const lines = shown.map(([, name, value]) => name.padEnd(NAME_COLUMNS) + value);
    await print(lines.join('\n'), {
      remedy: `see what holds with: ${commandOf(`limits ${id}`, options.config)}`,
    });
    const missed = shown.filter(([key]) => asked[key] !== undefined && asked[key] !== held[key]);
    if (missed.length > 0 || held.remainingMs === 0) {
      const names = missed.map(([, name]) => name).join(', ') || 'time';
      const what = `${names}: used up already, or set aside for calls and children under way`;
      say(`${what}. The run starts nothing more, and ends with what it has.`);
    }
    if (typeof costUsd !== 'number') return;
    const { costIsLowerBound, estimate } = await conductor.trace(id);
    if (costIsLowerBound || estimate?.nanoUsd === null) {
      say(
        'cost: some calls have no known price and count as nothing here; limits on calls and tokens bind them.',
      );
    }
  });
}

const NAME_COLUMNS = 8;

/** Returns each limit with its name and formatted value. */
function showLimits(held: HeldLimits): readonly (readonly [keyof LimitsChange, string, string])[] {
  const { costUsd, calls, tokens, wallClockMs, remainingMs, steps, depth } = held;
  return [
    ['costUsd', 'cost', costUsd === null ? 'no limit' : describeUsd(costUsd)],
    ['calls', 'calls', String(calls)],
    ['tokens', 'tokens', tokens?.toLocaleString('en-US') ?? 'no limit'],
    ['wallClockMs', 'time', `${describeMs(wallClockMs)} from its start, ${describeMs(remainingMs)} left`],
    ['steps', 'steps', `${steps} of one plan`],
    ['depth', 'depth', String(depth ?? 'no limit')],
  ];
}

/** Refuses a text that no run takes before a server is asked. @throws UsageError */
function refuseUsage(problem: string | null): void {
  if (problem !== null) throw new UsageError(problem);
}

interface Verdict {
  /** Id of a call of a tool. */
  readonly call?: string;
  /** File with another plan, or with arguments. */
  readonly edit?: string;
  /** Reason. */
  readonly reject?: string;
}

/** `approve`: approves the plan or the call that waits, replaces it, or rejects it with a reason. */
export async function approve(given: string, options: WorkOptions & Verdict): Promise<ExitCode> {
  const { edit, reject } = options;
  if (reject !== undefined) refuseUsage(findRejectionProblem({ reason: reject }));
  const written = edit === undefined ? '' : await readAll(edit);
  return steerRun(given, options, async (conductor, id) => {
    const call = options.call ?? (await findCall(conductor, id));
    if (call !== null) return decideCall(conductor, id, call, options, written);
    if (edit !== undefined) {
      const plan = readPlan(written, edit, await conductor.planContext(id));
      const { steps } = await conductor.editPlan(id, plan);
      say(`Run ${id} goes on with the plan of ${edit}: ${counted(steps.length, 'step')}.`);
    } else if (reject !== undefined) {
      await conductor.rejectPlan(id, reject, { asOperator: true });
      say(`Rejected. The Conductor of run ${id} writes another plan.`);
    } else {
      await conductor.approvePlan(id);
      say(`Approved. Run ${id} goes on.`);
    }
  });
}

/** Returns the call that waits for a decision in this very run; null if none does. */
async function findCall(conductor: ConductorClient, id: string): Promise<string | null> {
  const calls = waitingCalls(await conductor.trace(id)).filter(({ run }) => run === id);
  if (calls.length <= 1) return calls[0]?.id ?? null;
  const each = calls.map((call) => `${call.id} (${call.name})`).join(', ');
  throw new UsageError(`${calls.length} calls of run ${id} wait: name one with --call: ${each}`);
}

async function decideCall(
  conductor: ConductorClient,
  id: string,
  call: string,
  { edit, reject: reason }: Verdict,
  written: string,
): Promise<void> {
  const sender = { asOperator: true };
  if (reason !== undefined) {
    await conductor.decideCall(id, { call, approve: false, reason }, sender);
    say(`Rejected. The model that asked for call ${call} of run ${id} is told why.`);
    return;
  }
  const changed = edit === undefined ? undefined : readArguments(written, edit);
  await conductor.decideCall(id, { call, approve: true, ...(changed && { arguments: changed }) }, sender);
  say(`Approved. Call ${call} of run ${id} is made${changed ? ` with the arguments of ${edit ?? ''}` : ''}.`);
}

/** Sends a message to a run; if no worker is there to continue the run, says what to do. */
function steerRun(
  given: string,
  options: WorkOptions,
  steer: (conductor: ConductorClient, id: string) => Promise<void>,
): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withRun(given, options, 'steer', async (session, id) => {
    await requireUnended(session.temporal, id);
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
