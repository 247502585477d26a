import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnswerFunction } from '../../../src/testing';
import { readQuestions } from '../../../src/training/client';
import { planPromptedGroups, type PromptedRequest } from '../../../src/training/client/prompted-groups';
import { parseTrainable, readExamples, resolveTraining, trainingOf } from '../../../src/training/config';
import type { GroupRecord } from '../../../src/training/definitions';
import { openScriptedTraining, REPLIES } from '../../support/scripted-training';
import { endedWith } from '../command';
import { openTrainFolder } from '../../support/train-commands';
import { useEach } from '../../support/use';

jest.setTimeout(300_000);

const stage = useEach(() => openScriptedTraining());
const folder = useEach(() => openTrainFolder(stage));

const FILE = 'examples.jsonl';
const question = (number: number): string => `What is 6 times 7, in train.jsonl the ${number}. time?`;
const sample = (...args: string[]): string[] => ['examples', '--from-prompted', '--trust', ...args];

async function examples(): Promise<unknown[]> {
  const lines = (await readFile(join(folder.path, FILE), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown);
}

function answered(model: string): number {
  return stage.providers.log.filter((each) => each.model === model && each.outcome === 'answered').length;
}

/** Asks the prompted Conductor directly, without the command. */
async function ask(bounds: Partial<Pick<PromptedRequest, 'most' | 'nanoUsd'>> = {}, groupSize = 1) {
  const { store, taskQueue, temporal } = stage;
  const config = parseTrainable(stage.config);
  const { train: questions } = await readQuestions(trainingOf(config).data);
  const settings = { ...resolveTraining(config), groupSize };
  const groups: GroupRecord[] = [];
  const tell = (group: GroupRecord) => groups.push(group);
  const { signal } = new AbortController();
  const request = { client: temporal.client, taskQueue, store, settings, questions, tell, signal };
  const reason = await stage.whileWorking(() =>
    planPromptedGroups({ most: 8, nanoUsd: null, ...request, ...bounds }),
  );
  return { groups, reason };
}

/** Writes no plan for the first question, and a wrong one for the second. */
const writePlan: AnswerFunction = ({ text }) => {
  if (text.includes(question(1))) return REPLIES.none;
  return text.includes(question(2)) ? REPLIES.wrong : REPLIES.long;
};

test("the prompted Conductor's right plans become examples, and a repeated command asks nothing again", async () => {
  stage.providers.answer('conductor', writePlan);
  const { code, stdout, stderr } = await folder.train(...sample());
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^8 plans: (?=.*6 right)(?=.*1 wrong)(?=.*1 no plan).*; they cost \$0\.\d{4}\.\nexamples\.jsonl: 6 examples added, 6 in all\.\n$/,
  );
  expect(stderr).toContain('for plans of 8 questions, for at most $5.00.');
  expect(stderr).toMatch(/train\.jsonl-0: no plan \(The reply has no model_id.*\)\n/);
  expect(stderr).toContain('train warm-start --examples examples.jsonl');
  const plan = { steps: [expect.objectContaining({ worker: 'b' }), expect.objectContaining({ sees: [0] })] };
  expect(await examples()).toContainEqual({ question: question(3), plan, workers: ['a', 'b', 'c'] });

  const requests = stage.providers.log.length;
  const again = await folder.train(...sample());
  expect(again.stdout).toMatch(/^8 plans: .*6 right/);
  expect(again.stdout).toContain('examples.jsonl: 0 examples added, 6 in all.');
  expect(stage.providers.log).toHaveLength(requests);
});

test('right replies become prompt examples, with their reasoning, from this data or another file', async () => {
  const reply = (reasoning: string, plan: string): string => `${reasoning}\n\n${plan}`;
  stage.providers.answer('conductor', ({ text }) => {
    if (text.includes('tower')) return reply('A tower is measured.', REPLIES.right);
    return text.includes(question(2)) ? REPLIES.wrong : reply('Twice is surer.', REPLIES.long);
  });
  const other = { id: 'tower', question: 'How high is the tower?', grader: 'number', answer: '42' };
  await writeFile(join(folder.path, 'towers.jsonl'), JSON.stringify(other));
  const options = ['--few-shot', '1', '--questions', '3'];
  const { code, stdout, stderr } = await folder.train(...sample(...options));
  expect([code, stdout]).toEqual([0, expect.stringContaining('few-shot.yaml: 1 example added, 1 in all.\n')]);
  expect(stderr).toContain('training.policy.examples: few-shot.yaml');
  expect(stage.requestsTo('conductor')[0]?.body).not.toContain('Example question:');
  const mixed = await folder.train(...sample(...options, '--data', 'towers.jsonl'));
  expect(mixed.stdout).toContain('1 example added, 2 in all.');
  expect(readExamples(join(folder.path, 'few-shot.yaml'))).toEqual([
    {
      question: other.question,
      reasoning: 'A tower is measured.',
      plan: { steps: [{ worker: '0', subtask: 'Answer it.', sees: [] }] },
    },
    {
      question: expect.stringContaining('6 times 7') as string,
      reasoning: 'Twice is surer.',
      plan: { steps: [expect.objectContaining({ worker: '1' }), expect.objectContaining({ sees: [0] })] },
    },
  ]);
});

test('an interrupted command can be continued, and buys nothing twice', async () => {
  stage.providers.answer('conductor', REPLIES.right);
  const letGo = stage.providers.hold('a');
  const command = folder.start(...sample());
  await stage.providers.waitForLog((log) => log.filter(({ model }) => model === 'a').length === 4);
  expect(await command.end('SIGINT')).toMatchObject(endedWith(130, 'the same command goes on from here'));
  await stage.providers.waitForLog((log) => log.every(({ outcome }) => outcome !== null));
  letGo();
  expect((await folder.train(...sample())).stdout).toContain('8 plans: 8 right;');
  expect([answered('conductor'), answered('a')]).toEqual([8, 8]);
});

test('asks no more than requested, and no more than the money pays for', async () => {
  stage.providers.answer('conductor', REPLIES.right);
  const few = await ask({ most: 2 }, 2);
  expect(few.groups.map(({ rollouts }) => rollouts.length)).toEqual([2, 2]);
  expect(answered('conductor')).toBe(4);
  expect((await ask({ nanoUsd: 1_000_000 })).reason).toMatch(/^the money is used up/);
  expect(answered('conductor')).toBe(4);
});

test('what a kept group of unknown cost has cost counts as all that it was allowed', async () => {
  stage.providers.answer('conductor', REPLIES.right);
  stage.providers.script('a', [{ fault: 'usage-missing' }]);
  const { groups } = await ask({ most: 1 });
  expect(groups).toMatchObject([{ rollouts: [{ nanoUsd: null }] }]);
  // Money for many groups, but not beside one without a limit of its own.
  expect((await ask({ most: 2, nanoUsd: 50e9 })).reason).toMatch(/^the money is used up/);
  expect(answered('conductor')).toBe(1);
});

test('the prompted Conductor is asked for plans in the form that the policy may write', async () => {
  stage.providers.answer('conductor', REPLIES.right);
  await ask({ most: 1 });
  const [asked] = stage.requestsTo('conductor');
  expect(asked?.body).toContain('(sees every earlier step)');
  expect(asked?.body).not.toContain('numbers of earlier steps');
});

test('stops after a few questions, with the reason, if the Conductor cannot be asked', async () => {
  stage.providers.answer('conductor', { fault: 'invalid-key' });
  const { groups, reason } = await ask();
  expect(reason).toBe('the Conductor gave no plan for any of 4 questions');
  const rollout = {
    plan: null,
    verdict: 'ungraded',
    invalidBecause: expect.stringContaining('401') as string,
  };
  expect(groups[0]?.rollouts).toMatchObject([rollout]);
  expect(answered('a')).toBe(0);
});

test('grades solves of training questions, and makes examples of the right ones', async () => {
  stage.providers.answer('conductor', writePlan);
  const texts = [question(1), question(2), ` ${question(3).toUpperCase()}`, 'What else?'];
  const solves = () => Promise.all(texts.map((text) => stage.client.solve({ question: text })));
  const [stood, wrong, right, other] = (await stage.whileWorking(solves)).map(({ id }) => id);
  const ids = [wrong, right, other, stood].flatMap((id) => id ?? []);
  const { code, stdout, stderr } = await folder.train('examples', '--from-runs', ...ids);
  expect(code).toBe(0);
  const added = 'examples.jsonl: 1 example added, 1 in all.\n';
  expect(stdout).toBe(`2 solves of training questions: 1 right.\n${added}`);
  expect(stderr).toContain(`Left out: ${other} has no answer to one of the training questions.`);
  expect(await examples()).toMatchObject([{ question: question(3) }]);

  await rm(join(folder.path, FILE));
  expect((await folder.train('examples', '--from-runs')).stdout).toContain(added);
  const nowhere = await folder.train('examples', '--from-runs', 'solve-nowhere');
  expect(nowhere).toMatchObject(endedWith(2, 'there is no run "solve-nowhere"'));
});
