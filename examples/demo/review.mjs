// A demo: a rate limit, a killed process and a review. What each model says, how fast, and at what price.
import { renderPlan } from '../../lib/index.js';
import { compareBills, title } from './stage.mjs';

const QUESTION = 'How many piano tuners are there in Chicago?';

const WORKERS = ['sol', 'sonnet', 'luna'];

/** The model whose first answer the kill cuts off. */
const DOOMED = 'luna';

/** USD per million tokens, for the simulated providers' bills and for the ledger. */
const PRICES = {
  planner: { input: 2, output: 10 },
  sol: { input: 2, output: 10 },
  sonnet: { input: 3, output: 15 },
  luna: { input: 0.2, output: 0.8 },
};

const plan = (...steps) =>
  renderPlan({ steps: steps.map(([worker, subtask, sees = []]) => ({ worker, subtask, sees })) }, WORKERS);

const FIRST_PLAN = `Two independent estimates, then one who weighs them.
${plan(
  ['sol', 'Estimate top-down: people, households, pianos.'],
  ['sonnet', 'Estimate bottom-up: one tuner in a year.'],
  ['luna', 'Compare both estimates and give one final number.', [0, 1]],
)}`;

const CORRECTION = `The answer leaves out the schools: 55,000 and 20,000 tunings make 75,000.
${plan(['sol', 'Add the tunings of homes and of schools, and divide by what one tuner does.'])}`;

const AT_HOME =
  '2.7 million people, about 1.1 million households, one in twenty with a piano: 55,000 tunings a year, for 55 tuners.';
const BY_TUNER =
  'A tuner does 4 a day on 250 days a year: 1,000 tunings. Schools and halls need 20,000 a year beside the homes.';
const WEIGHED = 'About 55 piano tuners: 55,000 tunings a year, at 1,000 for each tuner.';
const CORRECTED =
  'About 75 piano tuners: 55,000 tunings in homes and 20,000 in schools and halls, at 1,000 for each tuner.';

const MODELS = {
  planner: {
    price: PRICES.planner,
    delayMs: 1000,
    answer: ({ text }) => (text.includes(WEIGHED) ? CORRECTION : FIRST_PLAN),
  },
  sol: {
    price: PRICES.sol,
    delayMs: 2400,
    answer: ({ text }) => (text.includes('Add the tunings') ? CORRECTED : AT_HOME),
  },
  sonnet: {
    price: PRICES.sonnet,
    delayMs: 1600,
    script: [{ fault: 'rate-limited', retryAfter: { ms: 2000, as: 'seconds' }, message: 'Slow down.' }],
    answer: BY_TUNER,
  },
  // Its first answer would take longer than the process that asks for it lives.
  luna: { price: PRICES.luna, delayMs: 1200, script: [{ text: WEIGHED, delayMs: 600_000 }], answer: WEIGHED },
};

/** Returns the demo's `conductor.yaml`. */
function configuration(url) {
  const model = (name) =>
    `provider: openai, baseUrl: ${url}/v1, model: ${name}, price: ${JSON.stringify(PRICES[name])}`;
  return [
    `conductor: { ${model('planner')} }`,
    'workers:',
    ...WORKERS.map((id) => `  - { id: ${id}, ${model(id)} }`),
    'recursion: review',
    '',
  ].join('\n');
}

async function play(stage) {
  const { providers, start, readJson, wait, kill } = stage;
  title('Three models and a review. One model will answer 429.');
  const solving = start(['solve', QUESTION, '--max-depth', '1']);
  const doomed = providers.waitForRequest(({ model }) => model === DOOMED);
  const early = await Promise.race([solving.ended, doomed.then(() => null)]);
  if (early !== null) return early;
  // Lets the live view show the call before the kill.
  await wait(1500);
  await kill(solving);

  title(
    `Killed process ${solving.child.pid} (SIGKILL) while ${DOOMED} was writing.`,
    'Another takes over as soon as Temporal notices.',
  );
  const run = (await readJson('cost', '--by', 'workflow')).lines[0].name;
  const code = await start(['watch', run]).ended;
  if (code !== 0) return code;

  title('Cost according to the ledger:');
  await start(['cost', '--by', 'worker']).ended;
  const count = (outcome) => providers.log.filter((record) => record.outcome === outcome).length;
  const isRight = await compareBills(
    stage,
    `${count('fault:rate-limited')} refused with 429`,
    `${count('closed-by-client')} interrupted by the kill and retried`,
  );
  return isRight ? 0 : 1;
}

export const REVIEW = {
  intro: [
    'A demo. The models are simulated and play a script: no key,',
    'no network, no real money. Temporal, the processes, the',
    'store and the kill are real.',
  ],
  question: QUESTION,
  doomed: DOOMED,
  models: MODELS,
  configuration,
  play,
};
