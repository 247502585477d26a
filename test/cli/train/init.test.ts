import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readGivenTrainable } from '../../../src/training/config/load';
import { readQuestions } from '../../../src/training/client';
import { type Ended, endedWith } from '../command';
import { useFolder } from '../stage';

// Formatted unlike any tool's output.
const OWN = `# Our pool.
conductor:   {provider: openai,  model: boss, baseUrl: 'http://127.0.0.1:1/v1'}   # writes plans
workers:
    - id: alpha   # fast
      provider: openai
      model: "alpha"
      baseUrl: http://127.0.0.1:1/v1

# The end.`;

const stage = useFolder({ OPENAI_API_KEY: 'unused' });

const at = (file: string): string => join(stage.folder.path, file);
const read = (file: string): Promise<string> => readFile(at(file), 'utf8');

const init = (...args: string[]): Promise<Ended> => stage.run('train', 'init', ...args);

test('writes a complete section below the existing lines, which keep every character', async () => {
  await stage.folder.write('conductor.yaml', OWN);
  const { code, stderr } = await init('--profile', 'smollm2-cpu', '--run', 'sums', '--base', 'models/own');
  expect(code).toBe(0);
  const text = await read('conductor.yaml');
  expect(text.startsWith(`${OWN}\n\ntraining:\n  profile: smollm2-cpu # `)).toBe(true);
  for (const line of text.slice(OWN.length).trim().split('\n')) expect(stderr).toContain(line);
  expect(stderr).toMatch(/Not there yet: questions\.jsonl and held-out\.jsonl[^]*Not there yet: models\/own/);
  expect(readGivenTrainable(at('conductor.yaml')).training).toMatchObject({
    run: 'sums',
    data: { train: 'questions.jsonl', heldOut: 'held-out.jsonl' },
    base: { kind: 'folder', path: 'models/own' },
    policy: { baseUrl: 'http://127.0.0.1:8001/v1', prompt: 'compact' },
    checkpoints: 'checkpoints',
    budget: { costUsd: 5, hours: 8 },
  });
});

test('never touches an existing section, and changes nothing after a wrong answer', async () => {
  const own = `${OWN}\ntraining: { profile: paper }\n`;
  await stage.folder.write('conductor.yaml', own);
  const there = 'conductor.yaml:10:1: there is a section "training:" already';
  expect(await init()).toMatchObject(endedWith(2, there));
  expect(await read('conductor.yaml')).toBe(own);
  await stage.folder.write('conductor.yaml', OWN);
  for (const [args, words] of [
    [['--policy-server', 'nowhere'], 'training.policy.baseUrl cannot be used: expected a plain http'],
    [['--profile'], /--profile needs a name:\n {2}70b-lora +\S/],
    [['--profile', 'huge'], 'training.profile is "huge", and there is no such profile'],
  ] as const) {
    expect(await init(...args)).toMatchObject(endedWith(2, words));
  }
  expect(await read('conductor.yaml')).toBe(OWN);
});

test('asks a newcomer who has nothing, and leaves them with a pool and questions', async () => {
  await stage.folder.write('mine.jsonl', 'my own\n');
  const asked = stage.start(['train', 'init'], { terminal: true });
  const answers: [RegExp, string][] = [
    [/cpu-demo +A tiny policy on any machine's CPU[^]*Profile \[cpu-demo\]/, ''],
    [/to learn from \[questions\.jsonl\]/, ''],
    [/to judge by \[held-out\.jsonl\]/, 'mine.jsonl'],
    [/or tiny \[tiny\]/, ''],
    [/policy server \[http:\/\/127\.0\.0\.1:8001\/v1\]/, 'http://127.0.0.1:8011/v1'],
    [/Folder for checkpoints \[checkpoints\]/, ''],
    [/small example questions to questions\.jsonl\? \[yes\]/, ''],
  ];
  for (const [question, answer] of answers) {
    await asked.hear(question);
    asked.type(`${answer}\n`);
  }
  const { code, stdout } = await asked.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('Wrote questions.jsonl: 60');
  expect(await read('mine.jsonl')).toBe('my own\n');
  expect(readGivenTrainable(at('conductor.yaml'))).toMatchObject({
    conductor: { provider: 'openai' },
    training: {
      data: { train: 'questions.jsonl', heldOut: 'mine.jsonl' },
      base: { kind: 'tiny', vocabulary: 400 },
      policy: { baseUrl: 'http://127.0.0.1:8011/v1' },
    },
  });
});

test('a night accepts the example questions', async () => {
  expect(await init('--yes', '--example-questions')).toMatchObject({ code: 0 });
  const files = { train: at('questions.jsonl'), heldOut: at('held-out.jsonl') };
  const { train, heldOut } = await readQuestions(files);
  expect([train.length, heldOut.length]).toEqual([60, 20]);
});
