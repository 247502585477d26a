import { isDeepStrictEqual } from 'node:util';
import type { HeldLimits, LimitsChange } from '../../protocol/control';
import { describeUsd } from '../../trace/describe';
import { describeMs } from '../../trace/step-state';
import type { ExitCode } from '../exit-code';
import { steerRun } from '../steer-run';
import { print, say } from '../terminal';

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
    ...(maxCost !== undefined && { costUsd: maxCost }),
    ...(calls !== undefined && { calls }),
    ...(tokens !== undefined && { tokens }),
    ...(wallClock !== undefined && { wallClockMs: wallClock }),
    ...(steps !== undefined && { steps }),
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
