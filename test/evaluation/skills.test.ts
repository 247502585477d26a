import { questionsOf, withHelp, WORKERS } from '../../examples/evaluate/world';
import { meanOf } from '../../src/evaluation/statistics';
import { CALL_NANO_USD, openEvaluation } from './open-evaluation';

// Wrong answers of these topics all differ, so that a vote can be reckoned on paper.
const TOPICS = ['sums', 'letters'] as const;
const QUESTIONS = questionsOf(270)
  .filter(({ topic }) => topic !== 'capitals')
  .slice(120);

type Topic = (typeof TOPICS)[number];

/** The mean over topics, of which there are as many questions each. */
const overTopics = (scoreOf: (topic: Topic) => number): number => meanOf(TOPICS.map(scoreOf)) ?? NaN;
const skill = (worker: string, topic: Topic): number => WORKERS[worker]?.[topic] ?? NaN;

/** A worker that sees answers of which one is right as often as `shown`. */
const after = (shown: number, own: number): number => shown * withHelp(own) + (1 - shown) * own;
/** One of so many is right. */
const anyOf = (...chances: readonly number[]): number =>
  1 - chances.reduce((none, each) => none * (1 - each), 1);

/** The Conductor has the best worker answer, the second check, and the best decide. */
function conductor(topic: Topic): number {
  const [best = 0, second = 0] = Object.keys(WORKERS)
    .map((worker) => skill(worker, topic))
    .sort((one, other) => other - one);
  return after(anyOf(best, second), best);
}

/** Of four votes two agree, or the first is the only right one: wrong ones never agree. */
function vote(right: number): number {
  const wrong = 1 - right;
  return 1 - wrong ** 4 - 4 * right * wrong ** 3 + right * wrong ** 3;
}

function reflection(right: number): number {
  return [1, 2, 3, 4].reduce((shown) => after(shown, right), right);
}

function mixture(topic: Topic): number {
  const skills = Object.keys(WORKERS).map((worker) => skill(worker, topic));
  return meanOf(skills.map((own) => after(anyOf(...skills), own))) ?? NaN;
}

const ON_PAPER: Readonly<Record<string, number>> = {
  conductor: overTopics(conductor),
  'worker:scholar': overTopics((topic) => skill('scholar', topic)),
  'worker:coder': overTopics((topic) => skill('coder', topic)),
  'worker:clerk': overTopics((topic) => skill('clerk', topic)),
  'vote:clerk': overTopics((topic) => vote(skill('clerk', topic))),
  // A plan and three steps: three attempts, and a call that chooses.
  'best-of:clerk': overTopics((topic) => {
    const own = skill('clerk', topic);
    return after(anyOf(own, own, own), own);
  }),
  'reflection:clerk': overTopics((topic) => reflection(skill('clerk', topic))),
  mixture: overTopics(mixture),
  generic: overTopics(conductor),
  silent: overTopics((topic) => Math.max(...Object.keys(WORKERS).map((worker) => skill(worker, topic)))),
};

test('each score is what the skills make it, and methods of equal cost cost the same within one call', async () => {
  const stage = await openEvaluation(QUESTIONS);
  try {
    const input = await stage.inputOf('eval-skills', Object.keys(ON_PAPER), { window: 8 });
    await stage.whileWorking(() => stage.run(input));
    const { methods } = await stage.summary(input);
    for (const { method, score, ungraded, usd } of methods) {
      const paper = ON_PAPER[method] ?? NaN;
      expect({ method, ungraded }).toEqual({ method, ungraded: 0 });
      // 99 % of all draws, of which these are one: there are ten methods.
      const most = 2.58 * Math.sqrt((paper * (1 - paper)) / QUESTIONS.length);
      const isNear = Math.abs((score ?? NaN) - paper) <= most;
      expect({ method, paper, score, isNear }).toEqual({ method, paper, score, isNear: true });
      if (!/best-of|vote/.test(method)) continue;
      const reference = methods.find((each) => each.method === 'conductor')?.usd ?? NaN;
      expect(Math.abs((usd ?? NaN) - reference)).toBeLessThanOrEqual(CALL_NANO_USD / 1e9);
    }
  } finally {
    await stage.close();
  }
}, 900_000);
