import { ApplicationFailure } from '@temporalio/client';
import type { TrainableInput } from '../../../src/training';
import type { TrainingInput } from '../../../src/training/config/schema';
import { samplingSeed } from '../../../src/training/draw';
import { UPDATE } from '../../../src/training/names';
import { REPLIES } from '../../support/scripted-training';
import { until } from '../../support/until';
import {
  exportCheckpoint,
  night,
  nightFor,
  nightThatHears,
  nightWithoutPlans,
  type Play,
  scheduledNight,
  TRAIN_RUN,
  warmStart,
} from './plays';

/** One way a training workflow can go. */
export interface NightShape {
  readonly training?: TrainingInput;
  readonly limits?: TrainableInput['limits'];
  /** Number of held-out questions; the gate needs five. Default: one. */
  readonly heldOut?: number;
  /** Events after which the server suggests continuing as new. Default: the server's own limit, in the thousands. */
  readonly longHistory?: number;
  readonly play: Play;
}

const SEED = 7;
/** Seeds of the first draws of the first cycle. */
const FIRST_DRAWS = [0, 1].map((draw) =>
  samplingSeed({ seed: SEED, purpose: 'training', cycle: 1, draw, round: 0 }),
);

/** Settings under which trials must run as training did. */
const AS_TRAINED: TrainingInput = {
  recursion: { rounds: 2 },
  pool: { adaptive: true },
  policy: { describe: 'names' },
};

/** Shapes recorded in `histories/`, by file name. */
export const NIGHT_SHAPES: Readonly<Record<string, NightShape>> = {
  promoted: { training: { cycles: 2 }, heldOut: 5, play: night },
  'one-cycle-ahead': { training: { cycles: 3, staleness: 1 }, play: night },
  'tried-on-the-way': { training: { evaluateEvery: 1 }, play: night },
  'without-spread': {
    play: (stage) => {
      stage.policy.script(REPLIES.right);
      return night(stage);
    },
  },
  'without-any-plan': { training: { cycles: 2 }, play: nightWithoutPlans },
  'topped-up': {
    training: { questions: 2, maxDraws: 4, seed: SEED },
    play: (stage) => {
      stage.policy.writeEach(({ seed }, place) =>
        place === 0 || FIRST_DRAWS.includes(Number(seed)) ? REPLIES.right : REPLIES.wrong,
      );
      return night(stage);
    },
  },
  'paused-and-resumed': {
    training: { cycles: 2 },
    play: async (stage) => {
      const { training } = stage;
      const paused = await nightThatHears(async () => {
        await training.pause(TRAIN_RUN);
        await training.setBudget(TRAIN_RUN, { hours: 5 });
      })(stage);
      await until(
        () => training.progress(TRAIN_RUN),
        (progress) => progress?.status === 'paused' && progress.done === 1,
      );
      await training.resume(TRAIN_RUN);
      return paused;
    },
  },
  'stopped-by-budget': {
    training: { cycles: 2 },
    play: nightThatHears(({ training }) => training.setBudget(TRAIN_RUN, { costUsd: 0 })),
  },
  'told-to-stop': {
    training: { cycles: 2 },
    play: nightThatHears(({ training }) => training.stop(TRAIN_RUN)),
  },
  cancelled: {
    training: { cycles: 2 },
    play: nightThatHears(({ training }) => training.cancel(TRAIN_RUN)),
  },
  failed: {
    play: (stage) => {
      const failure = ApplicationFailure.nonRetryable('the batch is of another run', 'Trainer.BatchInvalid');
      stage.trainer[UPDATE] = () => Promise.reject(failure);
      return night(stage);
    },
  },
  'trained-before': {
    play: async (stage) => {
      await (await night(stage)).result();
      return night(stage);
    },
  },
  'gone-on-in-a-new-run': { training: { cycles: 2 }, longHistory: 40, play: night },
  'the-new-run': { training: { cycles: 2 }, longHistory: 40, play: nightFor(`train-${TRAIN_RUN}`) },
  group: { play: nightFor('shape-000001-0') },
  'group-of-the-prompted-conductor': { play: nightFor('shape-000001-0-evaluation-the-prompted-Conductor') },
  'group-of-two-rounds': {
    training: { recursion: { rounds: 2 } },
    play: (stage) => {
      stage.policy.writeEach(({ n, temperature, prompt }, place) => {
        const isReview = temperature === 1 && n === 1;
        if (!isReview) return place === 0 ? REPLIES.right : REPLIES.wrong;
        return Buffer.from(prompt as readonly number[]).includes('41') ? REPLIES.long : REPLIES.accept;
      });
      return nightFor('shape-000001-0')(stage);
    },
  },
  'group-stopped-by-limits': {
    limits: { calls: 1 },
    play: (stage) => {
      stage.policy.script(REPLIES.long);
      return nightFor('shape-000001-0')(stage);
    },
  },
  scheduled: { play: scheduledNight },
  'scheduled-and-ended': {
    play: async (stage) => {
      const letGo = stage.providers.hold('a');
      const nightly = await scheduledNight(stage);
      await stage.providers.waitForRequest(({ model }) => model === 'a');
      await stage.training.cancel(TRAIN_RUN);
      letGo();
      return nightly;
    },
  },
  'left-out': {
    play: async (stage) => {
      const letGo = stage.providers.hold('a');
      const first = await night(stage);
      const second = await scheduledNight(stage);
      await second.result();
      letGo();
      await first.result();
      return second;
    },
  },
  'warm-start': { play: warmStart },
  export: { play: exportCheckpoint },
  'tried-with-reviews-and-drawn-teams': { training: AS_TRAINED, play: night },
  'trial-with-reviews': { training: AS_TRAINED, play: nightFor('shape-000001-1-evaluation-shape-000001') },
  'trial-cut-short': { training: { budget: { costUsd: 0.056 } }, heldOut: 8, play: night },
};
