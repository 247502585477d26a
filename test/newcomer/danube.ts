import { type Plan, renderPlan } from '../../src';
import type { Answer, SimulatedRequest } from '../../src/testing';

// The team that the pages on steering, money and failures show: its plans and answers for a question on the Danube.

const TEAM = ['flash', 'sonnet', 'sol', 'conductor'];

const OF_ITS_OWN = 'Weigh both claims: which one would an encyclopedia print?';
const REVISION = 'Add since when this is agreed.';

const WHOLE = plan(
  ['flash', 'Name the source that hydrologists favour, with a reason.'],
  ['sonnet', 'Name the source that the towns favour, with a reason.'],
  ['conductor', OF_ITS_OWN, 0, 1],
  ['sol', 'Write the answer in two sentences.', 0, 1, 2],
);
const WITHOUT_ITSELF = plan(
  ['flash', 'Name the source that hydrologists favour.'],
  ['sonnet', 'Name the source that the towns favour.'],
  ['sol', 'Write the answer in two sentences.', 0, 1],
);
const WEIGHING = plan(
  ['flash', 'Check the lengths and flows of both streams.'],
  ['sol', 'Give a verdict in one sentence.', 0],
);

/** Answers by a text of the prompt. The first match wins: a later step's prompt also holds earlier subtasks. */
const ANSWERS = [
  [
    REVISION,
    'The Danube rises in the Black Forest: at the Breg by length, and at Donaueschingen by name. That has been agreed since 1981.',
  ],
  [
    'Write the answer in two sentences.',
    'The Danube rises in the Black Forest. By length it begins with the Breg.',
  ],
  ['Answer in two sentences.', 'The Danube rises in the Black Forest. Its longer stream is the Breg.'],
  ['Give a verdict in one sentence.', 'An encyclopedia would print the Breg, and mention Donaueschingen.'],
  ['Check the lengths and flows', 'The Breg has 46 km and the greater flow; the Brigach has 40 km.'],
  ['Name the source that the towns favour', 'Donaueschingen: its spring has borne the name for centuries.'],
  ['Name the source that hydrologists favour', 'The Breg near Furtwangen: it is the longest stream.'],
] as const;

const WORKER_MS = 900;
const CONDUCTOR_MS = 300;

/** Returns the reply of a model of that team, or undefined for another question. */
export function aboutTheDanube({ text }: SimulatedRequest): Answer | undefined {
  if (text.includes('The team, by number:')) {
    const written = planFor(text);
    return written === undefined ? undefined : { text: written, delayMs: CONDUCTOR_MS };
  }
  const found = ANSWERS.find(([word]) => text.includes(word));
  return found === undefined ? undefined : { text: found[1], delayMs: WORKER_MS };
}

function planFor(text: string): string | undefined {
  const isReview = text.includes('If this answer is right and complete');
  if (text.includes(`Write a plan for this question:\n\n${OF_ITS_OWN}`)) return isReview ? plan() : WEIGHING;
  if (!text.includes('Where does the Danube rise?')) return undefined;
  if (isReview) return text.includes('agreed since') ? plan() : plan(['sonnet', REVISION]);
  if (text.includes('One worker is enough.')) return plan(['sol', 'Answer in two sentences.']);
  return text.includes('yourself, called again') ? WHOLE : WITHOUT_ITSELF;
}

function plan(...steps: readonly [worker: string, subtask: string, ...sees: number[]][]): string {
  const written: Plan = { steps: steps.map(([worker, subtask, ...sees]) => ({ worker, subtask, sees })) };
  return renderPlan(written, TEAM);
}
