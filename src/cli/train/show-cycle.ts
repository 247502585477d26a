import { readCycle, readGroups } from '../../client/training/read-cycles';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import type { GroupRecord } from '../../training/rollout';
import { EXIT, type ExitCode } from '../exit-code';
import { columnsOf, paintFor, print } from '../terminal';
import { UsageError } from '../usage-error';
import { findTraining, type TrainOptions } from './open-training';
import { renderCycle, type ShownCycle } from './show/render-cycle';

/** The options of `train show`. */
export interface ShowOptions extends TrainOptions {
  readonly json?: boolean;
}

/** Prints a cycle, over or under way, from what lies in the store: its groups, plans, answers, verdicts and rewards. Needs no server. */
export async function showCycle(cycle: number, { json, ...options }: ShowOptions): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const shown = await readShown(store, trainRun, cycle);
  if (json) await print(await toJson(store, shown));
  else {
    const columns = columnsOf(process.stdout);
    const paint = paintFor(process.stdout);
    await print(renderCycle(shown, { paint, ...(columns !== undefined && { columns }) }));
  }
  return EXIT.answered;
}

async function readShown(store: Store, trainRun: string, cycle: number): Promise<ShownCycle> {
  const metrics = await readCycle(store, trainRun, cycle);
  const groups = await readGroups(store, trainRun, cycle);
  if (metrics !== null || groups.length > 0) return { trainRun, cycle, metrics, groups };
  throw new UsageError(
    `there is no cycle ${cycle} of training run ${trainRun} in the store ${store.url}: ` +
      'see "temporal-conductor train list" for what there is',
  );
}

/** Everything, with long answers as they are. */
async function toJson(store: Store, { groups, ...cycle }: ShownCycle): Promise<string> {
  const whole: GroupRecord[] = [];
  for (const group of groups) whole.push({ ...group, rollouts: await resolveAnswers(store, group) });
  return JSON.stringify({ ...cycle, groups: whole }, null, 2);
}

function resolveAnswers(store: Store, { rollouts }: GroupRecord): Promise<GroupRecord['rollouts']> {
  return Promise.all(
    rollouts.map(async ({ answer, ...rollout }) => ({
      ...rollout,
      answer: answer === null ? null : await readText(store, answer),
    })),
  );
}
