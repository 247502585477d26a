import { randomFrom } from '../../src/statistics/chance';
import { adjustByHolm, resampleMean } from '../../src/evaluation/compare-pairs';
import { powerOf, scoreInterval, scoreTest, smallestFound } from '../../src/evaluation/score-test';
import { meanOf } from '../../src/statistics/statistics';
import { tries } from '../support/thorough';

// Checks what the report promises of its figures: over all outcomes if these can be counted, else by simulation.

const QUESTIONS = 30;

interface Outcome {
  readonly better: number;
  readonly worse: number;
  readonly low: number;
  readonly high: number;
  readonly p: number;
}

function outcomesOf(questions: number): Outcome[] {
  const counts = Array.from({ length: questions + 1 }, (_, count) => count);
  return counts.flatMap((better) =>
    counts.slice(0, questions - better + 1).map((worse) => {
      const study = { better, worse, questions };
      const [low, high] = scoreInterval(study);
      return { better, worse, low, high, p: scoreTest(study) };
    }),
  );
}

const OUTCOMES = outcomesOf(QUESTIONS);

const logFactorials = [0];
for (let count = 1; count <= 1000; count += 1)
  logFactorials.push((logFactorials[count - 1] ?? 0) + Math.log(count));
const logFactorial = (count: number): number => logFactorials[count] ?? NaN;

/** Returns the probability of an outcome, given each method's chance to be the only one that is right. */
function chanceOf({ better, worse }: Outcome, questions: number, chances: readonly [number, number]): number {
  const equal = questions - better - worse;
  const [one, other] = chances;
  const log = (count: number, chance: number): number => (count === 0 ? 0 : count * Math.log(chance));
  return Math.exp(
    logFactorial(questions) -
      logFactorial(better) -
      logFactorial(worse) -
      logFactorial(equal) +
      log(better, one) +
      log(worse, other) +
      log(equal, 1 - one - other),
  );
}

const chancesOf = (share: number, gain: number): [number, number] => [(share + gain) / 2, (share - gain) / 2];

function shareWhere(isTrue: (outcome: Outcome) => boolean, chances: readonly [number, number]): number {
  return OUTCOMES.filter(isTrue).reduce((sum, each) => sum + chanceOf(each, QUESTIONS, chances), 0);
}

const SHARES = Array.from({ length: 16 }, (_, place) => 0.05 + 0.05 * place);

test('with 30 questions, the interval of a difference covers it in at least 94 % of all evaluations', () => {
  const coverages = SHARES.flatMap((share) =>
    [0, 0.1, 0.2, 0.3, 0.5]
      .filter((gain) => gain < share)
      .map((gain) => shareWhere(({ low, high }) => low <= gain && gain <= high, chancesOf(share, gain))),
  );
  expect(Math.min(...coverages)).toBeGreaterThan(0.94);
});

test('without a difference, p is below 0.05 in less than one of twenty evaluations', () => {
  for (const share of SHARES) {
    expect(shareWhere(({ p }) => p < 0.05, chancesOf(share, 0))).toBeLessThan(0.05);
  }
});

test('an interval contains 0 if and only if p is at least 0.05', () => {
  for (const { low, high, p } of OUTCOMES) expect(p < 0.05).toBe(low > 0 || high < 0);
});

test.each([
  [30, 0.3],
  [60, 0.1],
  [200, 0.2],
])(
  'with %d questions, the smallest gain that can be found is found four times out of five',
  (questions, share) => {
    const gain = smallestFound(questions, share) ?? NaN;
    const random = randomFrom('power', questions, share);
    const [better, worse] = chancesOf(Math.max(share, gain), gain);
    const isFound = (): boolean => {
      const study = { better: 0, worse: 0, questions };
      for (let question = 0; question < questions; question += 1) {
        const luck = random();
        if (luck < better) study.better += 1;
        else if (luck < better + worse) study.worse += 1;
      }
      return study.better > study.worse && scoreTest(study) < 0.05;
    };
    const found = meanOf(Array.from({ length: 4000 }, () => Number(isFound()))) ?? NaN;
    expect(Math.abs(found - powerOf(questions, Math.max(share, gain), gain))).toBeLessThan(0.025);
    expect(found).toBeGreaterThan(0.775);
    // A gain that is smaller by 10 % (power changes in steps of whole questions) is missed more often.
    expect(powerOf(questions, Math.max(share, 0.9 * gain), 0.9 * gain)).toBeLessThan(0.8);
  },
);

/** Returns differences of mean scores on questions tried several times, with skills that depend on the question. */
function scoresOf(random: () => number, attempts: number, unlike: number, gain: number): number[] {
  return Array.from({ length: QUESTIONS }, () => {
    const easiness = 0.3 + 0.4 * random();
    const [one, other] = [easiness + gain + unlike * (random() - 0.5), easiness + unlike * (random() - 0.5)];
    let sum = 0;
    for (let attempt = 0; attempt < attempts; attempt += 1)
      sum += Number(random() < one) - Number(random() < other);
    return sum / attempts;
  });
}

test.each([
  [2, 0, 0],
  [3, 0.2, 0],
  [5, 0.4, 0.15],
])(
  'tried %d times, with skills that differ by %f: the resampled interval covers a gain of %f, and agrees with p',
  (attempts, unlike, gain) => {
    const random = randomFrom('coverage', attempts, unlike, gain);
    const draw = () => resampleMean(scoresOf(random, attempts, unlike, gain));
    const found = Array.from({ length: tries(1000) }, draw);
    for (const { interval, p } of found) expect(p < 0.05).toBe(interval[0] > 0 || interval[1] < 0);
    const covered = meanOf(found.map(({ interval: [low, high] }) => Number(low <= gain && gain <= high)));
    expect(covered).toBeGreaterThanOrEqual(0.94);
  },
  120_000,
);

test("with Holm's adjustment, one of ten equal methods seems better in about 5 % of evaluations at most", () => {
  const random = randomFrom('holm');
  const draw = (): number => {
    const study = { better: 0, worse: 0, questions: 60 };
    for (let question = 0; question < 60; question += 1) {
      const luck = random();
      if (luck < 0.15) study.better += 1;
      else if (luck < 0.3) study.worse += 1;
    }
    return scoreTest(study);
  };
  const evaluations = Array.from({ length: 2000 }, () => Array.from({ length: 10 }, draw));
  const alarms = (ps: readonly number[]): number => Number(ps.some((p) => p < 0.05));
  expect(meanOf(evaluations.map((ps) => alarms(adjustByHolm(ps))))).toBeLessThan(0.062);
  expect(meanOf(evaluations.map(alarms))).toBeGreaterThan(0.3);
});
