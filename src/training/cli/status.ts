import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, type ExitCode } from '../../cli/exit-code';
import { listenForInterruption } from '../../cli/interruption';
import { columnsOf, print, say, toJson } from '../../cli/terminal';
import { follow } from '../../cli/view/follow';
import { type Frame, openView } from '../../cli/view/open-view';
import { describeUsd, joinFacts } from '../../trace/describe';
import { type Paint, widthOf, wrap } from '../../trace/lines';
import { checkpointId, nightWorkflowId } from '../ids';
import { readNights } from '../client/read-runs';
import { findSchedule } from '../client/schedule';
import { readServing } from '../policy/serving';
import type { NightProgress } from '../contract';
import { describeRewards, renderNights } from './list';
import { describeSchedule } from './schedule';
import { describePlanner } from './serving';
import { describeMissing, findMissing } from './night-parts';
import {
  findSetback,
  LOOK_MS,
  type TrainingSession,
  type TrainOptions,
  whyFailed,
  withTraining,
} from './session';

export async function trainStatus(options: TrainOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withTraining(options, { used: true }, async (session) => {
    const { training, trainRun, temporal, store } = session;
    if (options.json === true) {
      const [night, schedule, serving, missing] = await Promise.all([
        training.progress(trainRun),
        findSchedule(temporal, trainRun),
        readServing(store),
        findMissing(session),
      ]);
      await print(toJson({ trainRun, night, schedule, serving, missing }));
      return EXIT.answered;
    }
    for (const part of await findMissing(session)) say(describeMissing(part));
    if (await training.isUnderWay(trainRun)) {
      const code = await followNight(session, interruption);
      if (code !== EXIT.answered) return code;
    }
    await print(await describeRest(session), { painted: true });
    return EXIT.answered;
  });
}

async function followNight(session: TrainingSession, interruption: AbortSignal): Promise<ExitCode> {
  const { trainRun } = session;
  const view = openView<NightProgress>(process.stderr, {
    draw: drawNight,
    tell: (before, after) => {
      const [known, line] = [before && describeProgress(before), describeProgress(after)];
      return line === known ? [] : [line];
    },
  });
  try {
    const followed = { states: progressOf(session), show: view.show };
    const seen = await follow(session, nightWorkflowId(trainRun), interruption, followed);
    if (seen !== null) return EXIT.answered;
  } finally {
    view.close();
  }
  say(`The night of ${trainRun} goes on; come back to it with: temporal-conductor train status`);
  return EXIT.interrupted;
}

/** Looks at a night again and again, until it has ended. */
async function* progressOf(session: TrainingSession): AsyncGenerator<NightProgress> {
  const { training, trainRun } = session;
  for (;;) {
    const [progress, setback] = await Promise.all([
      training.progress(trainRun),
      findSetback(session, nightWorkflowId(trainRun)),
    ]);
    if (progress === null) return;
    yield { ...progress, warning: setback ?? progress.warning };
    await pause(LOOK_MS, undefined, { ref: false });
  }
}

async function describeRest({ config, store, trainRun, temporal }: TrainingSession): Promise<string> {
  const [nights, schedule, { serving, pinned, reason }] = await Promise.all([
    readNights(store, trainRun),
    findSchedule(temporal, trainRun),
    readServing(store),
  ]);
  const failure = await whyFailed(temporal, trainRun);
  const latest = nights.slice(-1);
  const served = serving === null ? 'no checkpoint' : checkpointId(serving);
  return [
    latest.length === 0 ? `No night of ${trainRun} has started yet.` : renderNights(latest),
    ...(failure === null ? [] : labelled('failed', failure)),
    ...labelled('serving', describeServing(served, pinned, reason)),
    ...labelled('plans', describePlanner(config, serving)),
    ...labelled('schedule', schedule === null ? 'none' : describeSchedule(schedule)),
  ].join('\n');
}

/** A gate's reason says by itself what serves. */
function describeServing(served: string, pinned: boolean, reason: string): string {
  return pinned || !reason.startsWith(served) ? `${served}${pinned ? ', pinned' : ''}: ${reason}` : reason;
}

const LABEL_COLUMNS = 9;

function labelled(label: string, text: string): string[] {
  const lines = wrap([text], (columnsOf(process.stdout) ?? Infinity) - LABEL_COLUMNS);
  return lines.map((line, index) => (index === 0 ? label : '').padEnd(LABEL_COLUMNS) + line);
}

const BAR_COLUMNS = 32;
const CURVE_COLUMNS = 48;
/** Columns beside the curve: `reward`, the first and the last. */
const CURVE_FRAME = 24;

/** A night under way, a string a line. */
export function drawNight(
  progress: NightProgress,
  { paint, columns, now }: Omit<Frame, 'spinner'>,
): string[] {
  const { trainRun, night, status, warning, rewards, best } = progress;
  const curve = describeRewards(rewards, Math.min(CURVE_COLUMNS, Math.max(1, columns - CURVE_FRAME)));
  const held = best === null ? [] : [`best held out ${best.heldOut.toFixed(3)}: ${best.checkpoint}`];
  const facts = curve === null ? [] : wrap([curve, ...held], columns, '  ');
  return [
    ...wrap([`${trainRun} · night ${night} · ${status}`], columns).map(paint.strong),
    ...drawCycles(progress, columns, paint),
    ...facts.map((line) => line.replace(/[▁-█]+/g, paint.busy)),
    ...wrap(describeSums(progress, now), columns, ' · ').map(paint.faint),
    ...(warning === null ? [] : wrap([warning], columns).map(paint.bad)),
  ];
}

function drawCycles({ cycles, done, phase }: NightProgress, columns: number, paint: Paint): string[] {
  const { first, last } = cycles;
  // A night that is not open yet has claimed none.
  const claimed = first > 0 && last >= first ? last - first + 1 : 0;
  const full = claimed === 0 ? 0 : Math.round(((done - first + 1) / claimed) * BAR_COLUMNS);
  const bar = paint.good('█'.repeat(full)) + paint.faint('░'.repeat(BAR_COLUMNS - full));
  const span = `${done < first ? '' : `cycle ${done} done of `}cycles ${first} to ${last} · `;
  const words = `${claimed === 0 ? '' : span}${phase}`;
  return BAR_COLUMNS + 1 + widthOf(words) <= columns ? [`${bar} ${words}`] : [bar, ...wrap([words], columns)];
}

function describeSums(progress: NightProgress, now: number): string[] {
  const { cycles, done, rewards, status, spentNanoUsd, startedAt } = progress;
  const elapsed = Math.max(0, now - Date.parse(startedAt));
  const left = cycles.last - done;
  const isKnown = status === 'running' && rewards.length > 0 && left > 0;
  return [
    `${describeUsd(spentNanoUsd / 1e9)} spent`,
    `${describeHours(elapsed)} so far`,
    ...(isKnown
      ? [`${describeHours((elapsed / rewards.length) * left).replace(/^(?=\d)/, 'about ')} to go`]
      : []),
  ];
}

function describeProgress({ night, status, phase, done, rewards, warning }: NightProgress): string {
  const reward = rewards.at(-1)?.toFixed(3) ?? 'none yet';
  return joinFacts(`night ${night}`, status, phase, `cycle ${done} done`, `reward ${reward}`, warning);
}

/** `under a minute`, `14 min`, `3 h 5 min`. */
export function describeHours(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 1) return 'under a minute';
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
