import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SimulatedRequest } from '../../../src/testing';
import type { Summary } from '../../../src/evaluation/definitions';
import { endedWith } from '../command';
import { useOnce } from '../../support/use';
import { openEvaluationFolder } from './commands';

const price = { input: 1, output: 1 };
const stage = useOnce(() => openEvaluationFolder(4, { judge: { price, answer: judge } }));

const readWords = (text: string): readonly string[] =>
  /nothing else: (\S+) or (\S+) or (\S+)/.exec(text)?.slice(1) ?? [];

/** Judges with knowledge of the right answer, and prefers the answer that is right. */
function judge({ text }: SimulatedRequest): string {
  const words = readWords(text);
  const question = stage.questions.find((each) => text.includes(each.question));
  const isRight = (name: string): boolean => text.includes(`${name} answer ---\n${question?.answer ?? ''}\n`);
  const [first, second] = [isRight('first'), isRight('second')];
  const place = first === second ? 2 : first ? 0 : 1;
  return `I know that it is ${question?.answer ?? ''}.\n\n${words[place] ?? ''}`;
}

/** Ids of the solves, in the order of their questions. */
const ids: string[] = [];

const asked = (since: number): string[] => stage.providers.log.slice(since).map(({ model }) => model ?? '');

test('a worker alone answers the questions of the log as well, and quality is not judged unless asked for', async () => {
  const refused = await stage.run(['eval', '--from-traces', '--max-cost', '1']);
  expect(refused).toMatchObject(
    endedWith(2, 'Name it with --methods (worker:scholar, worker:coder, worker:clerk)'),
  );
  const missing = await stage.run(['eval', 'gone.jsonl', '--from-traces', '--max-cost', '1']);
  expect(missing).toMatchObject(endedWith(2, 'gone.jsonl does not exist'));
  // A long conversation is kept apart from its last turn.
  const turns = ['user', 'assistant', 'user'].map((role, index) => ({
    role,
    content: index === 2 ? stage.questions[0]?.question : 'Go on. '.repeat(800),
  }));
  await stage.folder.write('turns.json', JSON.stringify(turns));
  expect(await stage.run(['solve', '--messages', 'turns.json'])).toMatchObject({ code: 0 });
  const empty = await stage.run(['eval', '--from-traces', '--methods', 'workers', '--max-cost', '1']);
  expect(empty).toMatchObject(endedWith(2, 'the log has no solve with an answer'));

  for (const { question } of stage.questions) {
    const solve = await stage.run(['solve', question, '--json']);
    ids.push((JSON.parse(solve.stdout) as { id: string }).id);
  }
  const before = stage.providers.log.length;
  const unbounded = await stage.run(['eval', '--from-traces', '--methods', 'worker:clerk']);
  expect(unbounded).toMatchObject(
    endedWith(2, /4 questions × 2 methods: about 4 calls, about \$0\.00\d+\.\n.*--max-cost/),
  );
  expect(asked(before)).toEqual([]);

  const args = ['eval', '--from-traces', '--allow', 'clerk', '--max-cost', '1', '--out', 'one'];
  const alone = await stage.run(args);
  expect(alone).toMatchObject(endedWith(0, 'worker:clerk stands for the best worker: it is the only one.'));
  expect(asked(before)).toEqual(Array(4).fill('clerk'));
  expect(alone.stdout.split('\n')[0]).toMatch(
    /^method +USD +tokens +calls +median time +95 % time +not judged$/,
  );
  expect(alone.stdout).toMatch(
    /\nworker:clerk would have cost: \$0\.\d+ a question instead of \$0\.\d+: the Conductor cost \$0\.\d+ more .*times as much\./,
  );
  expect(alone.stdout).toContain('\nQuality was not judged on 4 questions');
  const records = await stage.results('one');
  const logged = records.filter(({ method }) => method === 'conductor');
  expect(logged.flatMap(({ runs }) => runs).sort()).toEqual(ids.toSorted());
  const [run = ''] = records.find(({ method }) => method === 'worker:clerk')?.runs ?? [];
  const trace = await stage.run(['trace', run]);
  expect(trace.stdout).toContain('clerk');
}, 180_000);

test('known answers are graded, a judge compares the rest, and an earlier evaluation names the worker', async () => {
  const tried = ['eval', 'questions.jsonl', '--methods', 'workers', '--max-cost', '1', '--json'];
  const all = await stage.run(tried);
  const { methods } = JSON.parse(all.stdout) as Summary;
  const [best] = methods.toSorted((one, other) => (other.score ?? 0) - (one.score ?? 0));
  const worker = best?.method.slice('worker:'.length) ?? '';
  const [, , solved = ''] = ids;
  const [sum] = stage.questions;
  const gold = [
    { ...sum, id: 'by-text', question: `  ${sum?.question.toUpperCase() ?? ''}` },
    { ...stage.questions[2], id: solved, question: 'By its id alone.' },
    { ...sum, id: 'of-no-solve', question: 'Something else?' },
  ];
  await stage.folder.write('gold.jsonl', gold.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const before = stage.providers.log.length;
  const args = ['eval', 'gold.jsonl', '--from-traces', '--judge', '--max-cost', '1', '--out', 'two'];
  const { code, stdout, stderr } = await stage.run(args);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toContain(`worker:${worker} was the best worker of eval-`);
  expect(stderr).toContain('4 questions × 2 methods: about 8 calls');
  expect(asked(before).filter((model) => model === worker)).toHaveLength(4);
  expect(asked(before).filter((model) => model === 'judge')).toHaveLength(4);
  expect(asked(before)).toHaveLength(8);
  expect(stdout).toMatch(/\nWhere the right answer is known: worker:\w+ against conductor, 2 questions: /);
  expect(stdout).toMatch(
    /\nWhere it is not, the verifier, asked in both orders, preferred the answer of conductor /,
  );
  expect(stdout).not.toContain('was not judged');
  const records = await stage.results('two');
  const judged = records.filter(({ verdict }) => verdict !== 'ungraded').map(({ question }) => question);
  expect(new Set(judged).size).toBe(2);
  expect(judged).toContain(solved);
  for (const { question, method, preference } of records) {
    const isCompared = method !== 'conductor' && !judged.includes(question);
    expect(preference?.outcome === undefined).toBe(!isCompared);
  }
  const costs = await stage.run(['cost', '--by', 'worker']);
  expect(costs.stdout).toMatch(/verifier/);
  for (const file of ['report.md', 'report.html'])
    expect(await readFile(join(stage.folder.path, 'two', file), 'utf8')).toContain("a model's opinion");
}, 180_000);

test('--judge is refused if no judge is configured', async () => {
  await stage.configure({ verifier: undefined });
  const args = ['eval', '--from-traces', '--judge', '--methods', 'worker:clerk', '--max-cost', '1'];
  expect(await stage.run(args)).toMatchObject(
    endedWith(2, '--judge needs a verifier, but none is configured'),
  );
}, 60_000);
