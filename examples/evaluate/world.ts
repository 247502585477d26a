import type { Question } from '../../src/grading/question';
import { randomFrom } from '../../src/statistics/chance';
import { renderPlan } from '../../src/plan/render';
import type { ModelBehaviour, Reply, SimulatedRequest } from '../../src/testing';

// A pool of simulated workers with known skills, so that an evaluation's results can be checked by calculation.

const TOPICS = ['sums', 'letters', 'capitals'] as const;
type Topic = (typeof TOPICS)[number];

/** A question of this world. */
export type WorldQuestion = Extract<Question, { readonly grader: 'number' | 'choice' }>;

/** Chance per topic that a worker is right when it sees no other answer. */
type Skills = Readonly<Record<Topic, number>>;

export const WORKERS: Readonly<Record<string, Skills>> = {
  scholar: { sums: 0.5, letters: 0.6, capitals: 0.9 },
  coder: { sums: 0.9, letters: 0.7, capitals: 0.45 },
  clerk: { sums: 0.5, letters: 0.5, capitals: 0.5 },
};

/** USD per million tokens. */
export const PRICES: Readonly<Record<string, { readonly input: number; readonly output: number }>> = {
  conductor: { input: 1, output: 5 },
  scholar: { input: 2, output: 10 },
  coder: { input: 2, output: 10 },
  clerk: { input: 0.2, output: 1 },
};

/** Chance that a worker adopts a right answer that it sees, if it would have been wrong by itself. */
const DISCERNMENT = 0.6;

/** Returns the chance that a worker is right when it sees a right answer. */
export const withHelp = (skill: number): number => 1 - (1 - skill) * (1 - DISCERNMENT);

const WORDS = 'lighthouse harbour violin meadow thunder orchard lantern compass glacier saddle'.split(' ');
const CAPITALS = [
  ['Norway', 'Oslo'],
  ['Peru', 'Lima'],
  ['Kenya', 'Nairobi'],
  ['Chile', 'Santiago'],
  ['Latvia', 'Riga'],
  ['Ghana', 'Accra'],
  ['Nepal', 'Kathmandu'],
  ['Cuba', 'Havana'],
  ['Qatar', 'Doha'],
  ['Malta', 'Valletta'],
] as const;

/** Returns questions with known answers; topics take turns. */
export function questionsOf(count: number): WorldQuestion[] {
  return Array.from({ length: count }, (_, index) => {
    const topic = TOPICS[index % TOPICS.length] ?? 'sums';
    return question(topic, Math.floor(index / TOPICS.length));
  });
}

function question(topic: Topic, number: number): WorldQuestion {
  const id = `${topic}-${number + 1}`;
  const random = randomFrom('world', id);
  const below = (most: number): number => Math.floor(random() * most);
  switch (topic) {
    case 'sums': {
      const [one, other] = [100 + below(900), 100 + below(900)];
      return {
        id,
        topic,
        question: `What is ${one} + ${other}?`,
        grader: 'number',
        answer: String(one + other),
      };
    }
    case 'letters': {
      const words = [WORDS[number % WORDS.length], WORDS[(number * 3 + 1 + below(8)) % WORDS.length]].join(
        ' ',
      );
      const answer = String(words.length - 1);
      return { id, topic, question: `How many letters has "${words}" (${id})?`, grader: 'number', answer };
    }
    case 'capitals': {
      const [country, capital] = CAPITALS[number % CAPITALS.length] ?? CAPITALS[0];
      const others = CAPITALS.map(([, name]) => name).filter((name) => name !== capital);
      const options = [below(9), below(8), below(7)].map(
        (place) => others.splice(place % others.length, 1)[0] ?? '',
      );
      options.splice(below(4), 0, capital);
      const shown = options.map((option, place) => `${'ABCD'.charAt(place)}) ${option}`).join(' ');
      const text = `What is the capital of ${country} (${id})? ${shown}`;
      return { id, topic, question: text, grader: 'choice', answer: capital, options };
    }
  }
}

/** Returns the pool's models, which know the questions and their answers. */
export function modelsOf(
  questions: readonly WorldQuestion[],
  prices: typeof PRICES = PRICES,
): Record<string, ModelBehaviour> {
  const asked = (request: SimulatedRequest): WorldQuestion => {
    const found = questions.find((each) => request.text.includes(each.question));
    if (found === undefined) throw new Error('the simulated pool was asked about no question of its own');
    return found;
  };
  const workers = Object.entries(WORKERS).map(([name, skills]): [string, ModelBehaviour] => [
    name,
    {
      price: prices[name],
      delayMs: 30,
      answer: (request) => answerOf(name, skills, asked(request), request.text),
    },
  ]);
  const conductor: ModelBehaviour = {
    price: prices.conductor,
    delayMs: 30,
    answer: (request) => planOf(asked(request), request.text),
  };
  return { conductor, ...Object.fromEntries(workers) };
}

const ANSWER_TOKENS = 100;

/** Draws from the prompt: equal prompts get equal answers, and numbered attempts get different ones. */
function answerOf(
  name: string,
  skills: Skills,
  { question, answer, topic }: WorldQuestion,
  text: string,
): Reply {
  const random = randomFrom('answer', name, text);
  const shown = text.slice(text.indexOf(question) + question.length);
  const isHelped = shown.includes(`<answer>${answer}</answer>`);
  const skill = skills[topic as Topic];
  const isRight = random() < (isHelped ? withHelp(skill) : skill);
  const given = isRight ? answer : wrongAnswer(answer, random());
  return { text: `I think that it is <answer>${given}</answer>`, usage: { outputTokens: ANSWER_TOKENS } };
}

function wrongAnswer(right: string, chance: number): string {
  const number = Number(right);
  if (!Number.isNaN(number)) return String(number + 1 + Math.floor(chance * 1_000_000));
  const others = CAPITALS.map(([, capital]) => capital).filter((capital) => capital !== right);
  return others[Math.floor(chance * others.length)] ?? '';
}

/** Returns a plan: the topic's best worker answers, the next best checks, the best decides. Reviews accept. */
function planOf({ topic }: WorldQuestion, text: string): Reply {
  const ids = Object.keys(WORKERS);
  const skillOf = (id: string): number => WORKERS[id]?.[topic as Topic] ?? 0;
  const [best = '', second = ''] = ids.toSorted((one, other) => skillOf(other) - skillOf(one));
  const first = { worker: best, subtask: `Answer this question about ${topic}.`, sees: [] };
  const check = { worker: second, subtask: 'Check the answer, and give the right one.', sees: [0] };
  const onlyOne = text.includes('exactly one step');
  const isReview = text.includes('Your team carried this plan out');
  const steps = onlyOne
    ? [first]
    : isReview
      ? []
      : [first, check, { ...first, subtask: 'Decide.', sees: [0, 1] }];
  return { text: renderPlan({ steps }, ids), usage: { outputTokens: 2 * ANSWER_TOKENS } };
}
