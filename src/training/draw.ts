import { randomFrom, seedOf, shuffled } from '../statistics/chance';
import type { RunWorker } from '../protocol/cards';
import type { QuestionRef } from '../evaluation/definitions';
import { groupBy } from '../statistics/tally';
import type { GroupResult } from './contract';
import type { GroupInput } from './inputs';
import type { TrainingSettings } from './config/resolve';

type Pool = TrainingSettings['pool'];

interface QuestionSource extends Pick<TrainingSettings, 'seed' | 'questions'> {
  readonly topics: readonly number[];
  readonly cycle: number;
}

/**
 * Returns a cycle's first `draws` draws as indices into the set; more draws only append. The first `questions` go
 * through the set epoch by epoch with topics in turn, so that no topic is forgotten. Further draws prefer other
 * questions, in an order of the cycle's own: they depend on the seed alone, not on the top-ups of other cycles.
 */
export function drawQuestions(source: QuestionSource, draws: number): number[] {
  const regular = regularDraws(source);
  if (draws <= regular.length) return regular.slice(0, draws);
  const { seed, topics, cycle } = source;
  const order = orderOf(topics, seed, 'top-up', cycle);
  const others = [
    ...order.filter((index) => !regular.includes(index)),
    ...order.filter((index) => regular.includes(index)),
  ];
  const drawn = [...regular];
  while (drawn.length < draws) drawn.push(...others.slice(0, draws - drawn.length));
  return drawn;
}

function regularDraws({ seed, topics, questions, cycle }: QuestionSource): number[] {
  const count = topics.reduce((sum, each) => sum + each, 0);
  const drawn: number[] = [];
  let place = (cycle - 1) * questions;
  while (drawn.length < questions) {
    const order = orderOf(topics, seed, 'epoch', Math.floor(place / count));
    const part = order.slice(place % count, (place % count) + questions - drawn.length);
    drawn.push(...part);
    place += part.length;
  }
  return drawn;
}

/** Returns all questions in a random order that spreads each topic evenly. */
function orderOf(topics: readonly number[], ...key: readonly (string | number)[]): number[] {
  const random = randomFrom(...key);
  let first = 0;
  const placed = topics.flatMap((count) => {
    const own = shuffled([...Array(count).keys()], random);
    const [from, start] = [first, random()];
    first += count;
    return own.map((index, turn) => ({ index: from + index, place: (turn + start) / count }));
  });
  return placed.sort((one, other) => one.place - other.place).map(({ index }) => index);
}

/** Sorts questions by topic and counts each topic's; questions without a topic form one of their own. */
export function sortByTopic<Row extends { readonly topic?: string | undefined }>(
  questions: readonly Row[],
): { readonly questions: readonly Row[]; readonly topics: readonly number[] } {
  const groups = [...groupBy(questions, ({ topic }) => topic).values()];
  return { questions: groups.flat(), topics: groups.map(({ length }) => length) };
}

export const CANARY_QUESTIONS = 20;

/** Returns the held-out questions for the check after a promotion, the same every night. */
export function canaryQuestions(set: string, count: number): readonly QuestionRef[] {
  const stride = Math.max(1, Math.floor(count / CANARY_QUESTIONS));
  const places = [...Array(Math.min(count, CANARY_QUESTIONS)).keys()];
  return places.map((place) => ({ set, index: place * stride }));
}

/**
 * Pairs each question with all workers; with an adaptive pool also with a drawn team, the same every night. Draws of
 * teams are numbered after the `count` questions of the whole held-out set.
 */
export function drawTrials(
  questions: readonly QuestionRef[],
  source: Pick<GroupInput, 'seed' | 'workers'> & { readonly pool: Pool; readonly count: number },
): Pick<GroupInput, 'draw' | 'question' | 'workers'>[] {
  const { seed, pool, workers, count } = source;
  const whole = questions.map((question) => ({ draw: question.index, question, workers }));
  if (!pool.adaptive) return whole;
  const parts = questions.map((question) => {
    const draw = count + question.index;
    return { draw, question, workers: drawWorkers(workers, { seed, cycle: 0, draw, pool }) };
  });
  return [...whole, ...parts];
}

/**
 * Draws the workers of a group, in the prompt order by which plans number them. With `adaptive`, all sizes from `least`
 * up, and all subsets of a size, are equally likely (paper section 3.2 leaves it open); held-out teams are redrawn.
 */
export function drawWorkers(
  workers: readonly RunWorker[],
  { seed, cycle, draw, pool }: Pick<GroupInput, 'seed' | 'cycle' | 'draw'> & { readonly pool: Pool },
): RunWorker[] {
  const random = randomFrom(seed, 'workers', cycle, draw);
  let chosen: readonly RunWorker[];
  do chosen = drawTeam(workers, pool, random);
  while (chosen.length < workers.length && isHeldOut(chosen, pool));
  const ids = new Set(chosen.map(({ id }) => id));
  const present = pool.permuteIds ? chosen : workers.filter(({ id }) => ids.has(id));
  return present.map((worker) => ({ ...worker, fallback: worker.fallback.filter((id) => ids.has(id)) }));
}

function drawTeam(
  workers: readonly RunWorker[],
  { adaptive, least }: Pool,
  random: () => number,
): RunWorker[] {
  const order = shuffled(workers, random);
  if (!adaptive) return order;
  return order.slice(0, least + Math.floor(random() * (workers.length - least + 1)));
}

function isHeldOut(team: readonly RunWorker[], { heldOut }: Pool): boolean {
  return heldOut.some((ids) => ids.length === team.length && team.every(({ id }) => ids.includes(id)));
}

/**
 * Applies dynamic sampling (DAPO): groups that teach nothing are replaced. A draw starts only if it is needed even when
 * all under way turn out well, so an interrupted cycle equals an undisturbed one. `keep`: draws to learn from.
 *
 * @param spreads for each started draw, whether its group can be learned from; null while it is under way
 */
export function chooseGroups(
  { questions, maxDraws }: Pick<TrainingSettings, 'questions' | 'maxDraws'>,
  spreads: readonly (boolean | null)[],
): { keep: number[]; more: number } {
  const keep = spreads.flatMap((spread, draw) => (spread === true ? [draw] : []));
  const underWay = spreads.filter((spread) => spread === null).length;
  const missing = questions - keep.length - underWay;
  return { keep, more: Math.max(0, Math.min(missing, maxDraws - spreads.length)) };
}

export function samplingSeed(
  group: Pick<GroupInput, 'seed' | 'purpose' | 'cycle' | 'draw'> & { readonly round: number },
): number {
  return seedOf(group.seed, group.purpose, group.cycle, group.draw, group.round);
}

/** Part of a group's input that differs between the groups of a night. */
export type GroupOptions = Pick<GroupInput, 'purpose' | 'cycle' | 'draw' | 'question' | 'writer' | 'workers'>;

/** Limits of a group beside its own. */
export interface GroupMost {
  /** Null: none. */
  readonly nanoUsd: number | null;
  readonly wallClockMs: number;
}

/** Builds a group's input, within its own and the given limits. Only training plans use the training temperature. */
export function groupInput(
  { trainRun, seed, policy, reward, window, recursion, run, verifier, gate, groupSize }: TrainingSettings,
  options: GroupOptions,
  { nanoUsd, wallClockMs }: GroupMost,
): GroupInput {
  const { purpose } = options;
  const isTrial = purpose === 'evaluation' || purpose === 'canary';
  const { limits } = run;
  const most = Math.min(limits.nanoUsd ?? Infinity, nanoUsd ?? Infinity);
  return {
    ...options,
    trainRun,
    seed,
    policy,
    reward,
    window,
    recursion,
    plans: isTrial ? gate.samples : groupSize,
    temperature: purpose === 'training' ? policy.temperature : policy.servingTemperature,
    ...(verifier !== undefined && { verifier }),
    run: {
      ...run,
      limits: {
        ...limits,
        nanoUsd: most === Infinity ? null : most,
        wallClockMs: Math.max(1, Math.min(limits.wallClockMs, wallClockMs)),
      },
    },
  };
}

/** Whether a group's share of a common budget ran out although its own limits would have allowed more. */
export function lackedMoney(settings: TrainingSettings, { run }: GroupInput, result: GroupResult): boolean {
  return result.stoppedBy === 'cost' && run.limits.nanoUsd !== settings.run.limits.nanoUsd;
}
