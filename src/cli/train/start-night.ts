import { isNightDate, isTimeZone } from '../../training/night-date';
import { readCheckpointId } from '../../training/checkpoint-id';
import { EXIT, type ExitCode } from '../exit-code';
import { print, say } from '../terminal';
import { UsageError } from '../usage-error';
import { withTraining, type TrainOptions } from './open-training';

/** The options of `train start`. */
export interface StartOptions extends TrainOptions {
  readonly cycles?: number;
  /** Checkpoint to go on from. */
  readonly from?: string;
  /** Local calendar date. */
  readonly date?: string;
  readonly timezone?: string;
}

/** Begins a night of training now, prints its workflow id, and leaves it to the workers that are there. */
export async function startNight(options: StartOptions): Promise<ExitCode> {
  const { cycles, from, date, timezone } = options;
  checkOptions(options);
  return withTraining(options, { outliving: '"train start"' }, async ({ training, trainRun, config }) => {
    if (config.training === undefined) throw new UsageError(NOT_CONFIGURED);
    const { id, night } = await training.start({
      trainRun,
      timeZone: timezone ?? localTimeZone(),
      ...(cycles !== undefined && { cycles }),
      ...(from !== undefined && { from }),
      ...(date !== undefined && { date }),
    });
    say(`Night ${night} of ${trainRun} is under way; follow it with: temporal-conductor train status`);
    await print(id);
    return EXIT.answered;
  });
}

/** For a command that cannot do without the configuration's `training:`. */
export const NOT_CONFIGURED =
  'the configuration has no "training:": name a profile and files of questions there, see docs/training.md';

/** Nights are named by the calendar of whoever asks for them. */
export function localTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** @throws UsageError that names the option, and says what was expected */
export function checkTimeZone(timezone: string | undefined): void {
  if (timezone === undefined || isTimeZone(timezone)) return;
  throw new UsageError(
    `--timezone ${JSON.stringify(timezone)} is unknown: expected a name of the tz database, such as Europe/Berlin`,
  );
}

function checkOptions({ date, from, timezone }: StartOptions): void {
  checkTimeZone(timezone);
  if (date !== undefined && !isNightDate(date)) {
    throw new UsageError(`--date ${JSON.stringify(date)} is no date: expected one such as 2026-11-21`);
  }
  if (from !== undefined && readCheckpointId(from) === null) {
    throw new UsageError(
      `--from ${JSON.stringify(from)} names no checkpoint: expected one such as nightly/000040`,
    );
  }
}
