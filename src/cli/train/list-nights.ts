import { listTrainRuns, readNights, type TrainedNight } from '../../client/training/read-nights';
import { configuredKeys } from '../../encryption/configured-keys';
import { openStore } from '../../store/open-store';
import { EXIT, type ExitCode } from '../exit-code';
import { loadSettings } from '../load-settings';
import { columnsOf, paintFor, print, say } from '../terminal';
import { chooseRun } from './choose-run';
import { renderNights } from './list/render-nights';
import type { TrainOptions } from './open-training';

/** The options of `train list`. */
export interface ListOptions extends TrainOptions {
  readonly json?: boolean;
}

/** Prints all training runs in the store, or the one that is named, night by night. Needs no server. */
export async function listNights({ config: file, run, json }: ListOptions): Promise<ExitCode> {
  const config = await loadSettings(file);
  const store = openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
  const names = run === undefined ? await listTrainRuns(store) : [chooseRun(run)];
  const runs = await Promise.all(
    names.map(async (name) => ({ trainRun: name, nights: await readNights(store, name) })),
  );
  if (json === true) await print(JSON.stringify(runs, null, 2));
  else if (runs.every(({ nights }) => nights.length === 0)) say(`No night was trained in ${store.url}.`);
  else await print(runs.map(render).join('\n\n'));
  return EXIT.answered;
}

function render({
  trainRun,
  nights,
}: {
  readonly trainRun: string;
  readonly nights: TrainedNight[];
}): string {
  const paint = paintFor(process.stdout);
  return `${paint.strong(trainRun)}\n${renderNights(nights, { paint, columns: columnsOf(process.stdout) ?? 120 })}`;
}
