import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { SqliteStore } from '../../src/store/sqlite-store';
import { unlessAborted } from '../../src/runtime/turns';
import { readNights, type TrainedNight } from '../../src/training/activities/records';
import { runCommand, startUp } from '../demo/town';
import { timed } from '../plain/run-course';
import { readWhole, readWord } from '../support/options';
import { needProcesses } from '../support/programs';
import { startWorld } from '../world/simulate';
import { layOut, NIGHT_WORLD } from './layout';

// Nights by the product's own commands, all processes of `train up` included, in a simulated world without a key:
//   npm run learn -- night [--serve vllm|cpu] [--device cpu|cuda] [--model tiny|smollm2|FOLDER]
//                          [--tuning lora|full] [--cycles 2] [--minutes 9] [--seed 0] [--folder DIR]
// Stops after some minutes wherever it is; the same command goes on from there, and begins the next night after one.

const RUN = 'night';
const FIRST_DATE = '2026-01-10';
const POLL_MS = 1_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      serve: { type: 'string', default: 'cpu' },
      device: { type: 'string', default: 'cpu' },
      model: { type: 'string', default: 'tiny' },
      tuning: { type: 'string', default: 'lora' },
      cycles: { type: 'string', default: '2' },
      minutes: { type: 'string', default: '9' },
      seed: { type: 'string', default: '0' },
      folder: { type: 'string' },
    },
  });
  const wish = {
    seed: readWhole('--seed', values.seed),
    serve: readWord('--serve', values.serve, ['vllm', 'cpu']),
    device: readWord('--device', values.device, ['cpu', 'cuda']),
    model: values.model,
    tuning: readWord('--tuning', values.tuning, ['lora', 'full']),
    cycles: readWhole('--cycles', values.cycles),
  };
  const named = ['night', wish.model.replaceAll('/', '-'), wish.serve, wish.tuning, wish.seed].join('-');
  const folder = resolve(values.folder ?? named);
  const deadline = performance.now() + 60_000 * readWhole('--minutes', values.minutes);
  const tell = timed();
  const world = await startWorld({ world: NIGHT_WORLD, seed: wish.seed, port: await layOut(folder, wish) });
  try {
    const { lost, need } = needProcesses(folder);
    const up = need('process of "train up"', await unlessAborted(lost, startUp(folder, 'train', 'up')));
    try {
      tell(`"train up" is ready in ${folder}; Temporal's web page is ${up.webPage}`);
      const night = await unlessAborted(lost, spendNight(folder, up.address, { deadline, tell }));
      tell(
        night === null
          ? 'time is up: the same command goes on from here'
          : `gate: ${night.decision ?? 'it decided nothing'}`,
      );
    } finally {
      await up.stop();
    }
  } finally {
    await world.close();
  }
}

interface Watch {
  /** By the clock of `performance`. */
  readonly deadline: number;
  readonly tell: (line: string) => void;
}

/** Follows the night under way, or begins one; null if the time is up before it is over. */
async function spendNight(folder: string, address: string, watch: Watch): Promise<TrainedNight | null> {
  const store = new SqliteStore(join(folder, '.conductor', 'store.db'));
  const nights = await readNights(store, RUN);
  const open = nights.find(({ closedAt }) => closedAt === null);
  const date = open?.date ?? dateOf(nights.length);
  // Refused for a night that goes on by itself. Why one does not run is what waiting for its result says.
  await runCommand(folder, ['train', 'start', '--date', date]).catch(() => undefined);
  watch.tell(`the night of ${date} ${open === undefined ? 'begins' : 'goes on'}`);
  const connection = await Connection.connect({ address });
  const ended = new Client({ connection }).workflow.getHandle(`train-${RUN}`).result();
  const findNight = async (): Promise<TrainedNight | null> =>
    (await readNights(store, RUN)).find((night) => night.date === date) ?? null;
  return followNight(findNight, ended, { ...watch, told: open?.cycles.length ?? 0 });
}

async function followNight(
  findNight: () => Promise<TrainedNight | null>,
  ended: Promise<unknown>,
  { deadline, tell, told: before }: Watch & { readonly told: number },
): Promise<TrainedNight | null> {
  const over = ended.then(() => true);
  for (let told = before; performance.now() < deadline;) {
    const isOver = await Promise.race([over, setTimeout(POLL_MS, false)]);
    const night = await findNight();
    for (const cycle of night?.cycles.slice(told) ?? []) tell(describeCycle(cycle));
    told = night?.cycles.length ?? told;
    if (isOver) return night;
  }
  return null;
}

function dateOf(nights: number): string {
  const date = new Date(FIRST_DATE);
  date.setUTCDate(date.getUTCDate() + nights);
  return date.toISOString().slice(0, 10);
}

function describeCycle({
  cycle,
  rewardMean,
  formatRate,
  update,
  times,
}: TrainedNight['cycles'][number]): string {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const gaps =
    update === null
      ? 'no update'
      : `log-probabilities off by ${update.logprobGap.toExponential(1)} at most, ${update.samplerGap.toExponential(1)} on average`;
  return (
    `cycle ${cycle}: reward ${rewardMean.toFixed(3)}, plans ${formatRate.toFixed(2)}, ${gaps}; ` +
    `${seconds(times.whole)}: sampling ${seconds(times.sampling)}, update ${seconds(times.update)}, publishing ${seconds(times.publish)}`
  );
}

main().then(
  // Exits at once, since a night that goes on later is still waited for.
  () => process.exit(),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
