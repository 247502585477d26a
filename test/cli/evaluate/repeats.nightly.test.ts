import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Summary } from '../../../src/evaluation/definitions';
import { endedWith } from '../command';
import { useOnce } from '../../support/use';
import { openEvaluationFolder } from './commands';

const stage = useOnce(() => openEvaluationFolder(2));

const EVAL = ['eval', 'questions.jsonl', '--max-cost', '1'];

test('each repeat has another seed, a condition decides the exit code, and two evaluations can be compared', async () => {
  const untried = await stage.run([
    ...EVAL,
    '--methods',
    'conductor,worker:clerk',
    '--fail-if',
    'conductor < vote',
  ]);
  expect(untried).toMatchObject(endedWith(2, '--fail-if names vote, which is not tried'));
  const uncompared = await stage.run([...EVAL, '--methods', 'workers', '--primary', 'worker:scholar']);
  expect(uncompared).toMatchObject(
    endedWith(2, '--primary names worker:scholar, which is not compared with'),
  );
  expect(stage.providers.log).toEqual([]);

  const methods = ['--methods', 'conductor,worker:clerk', '--primary', 'worker:clerk'];
  const args = [
    ...EVAL,
    ...methods,
    '--repeats',
    '3',
    '--out',
    'one',
    '--json',
    '--fail-if',
    'conductor < 1.0 - 1',
  ];
  const { code, stdout, stderr } = await stage.run(args);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toContain('6 questions × 2 methods');
  expect(stderr).toContain('Passed: "conductor < 1.0 - 1"');
  expect(JSON.parse(stdout) as Summary).toMatchObject({
    questions: 6,
    complete: 6,
    repeats: 3,
    primary: 'worker:clerk',
  });
  const records = await stage.results('one');
  const evaluation = records[0]?.evaluation ?? '';
  expect(records.map(({ question }) => question).sort()).toEqual(
    stage.questions.flatMap(({ id }) => Array<string>(6).fill(id)).sort(),
  );
  const seeds = stage.providers.log
    .filter(({ model }) => model === 'clerk')
    .map(({ body }) => (JSON.parse(body) as { seed?: number }).seed);
  expect(new Set(seeds).size).toBe(3);
  const report = await readFile(join(stage.folder.path, 'one', 'report.md'), 'utf8');
  expect(report).toContain('Made with temporal-conductor ');

  const same = await stage.run(['eval', '--compare', 'last', 'last']);
  expect(same).toMatchObject({ code: 0 });
  expect(same.stdout).toMatch(/\nworker:clerk +2 +(\S+) +\1 +\+0\.000 .* 1\.000 +1\.000/);
  expect(await stage.run(['eval', '--compare', 'last'])).toMatchObject(
    endedWith(2, 'takes two evaluations, and 1'),
  );

  const unknown = await stage.run([...EVAL, '--methods', 'vote:best']);
  expect(unknown).toMatchObject(
    endedWith(2, 'the best worker is unknown: no evaluation here tried all of them'),
  );
  const first = await stage.run([...EVAL, '--methods', 'vote', '--primary', 'worker:scholar']);
  expect(first.stderr).toContain('vote: the first worker, scholar, since no evaluation here shows');
  const tried = await stage.run([...EVAL, '--methods', 'workers', '--json']);
  const alone = (JSON.parse(tried.stdout) as Summary).methods;
  const [best] = alone.toSorted((first, second) => (second.score ?? 0) - (first.score ?? 0));
  const named = await stage.run([...EVAL, '--methods', 'worker:best,reflection:best', '--json']);
  expect((JSON.parse(named.stdout) as Summary).methods.map(({ method }) => method)).toEqual([
    best?.method,
    best?.method.replace('worker', 'reflection'),
  ]);
  const unnamed = await stage.run([
    ...EVAL,
    '--methods',
    'worker:best,reflection',
    '--primary',
    'reflection',
    '--json',
  ]);
  expect((JSON.parse(unnamed.stdout) as Summary).methods).toHaveLength(2);
  expect((JSON.parse(unnamed.stdout) as Summary).methods[1]?.method).toBe(
    best?.method.replace('worker', 'reflection'),
  );

  const file = join(stage.folder.path, 'conductor.yaml');
  const written = await readFile(file, 'utf8');
  await writeFile(file, written.replace('id: scholar', 'id: scholar\n    temperature: 0.9'));
  const changed = await stage.run([...EVAL, '--methods', 'vote:best']);
  expect(changed).toMatchObject(
    endedWith(2, 'the best worker is unknown: no evaluation here tried all of them'),
  );
  await writeFile(file, written);

  const condition = ['--fail-if', 'worker:clerk < 1.0'];
  const failed = await stage.run(['eval', '--resume', evaluation, ...condition, '--out', 'one', '--inspect']);
  expect(failed).toMatchObject(endedWith(1, 'Failed: "worker:clerk < 1.0"'));
  expect(await readdir(join(stage.folder.path, 'one', 'inspect'))).toHaveLength(2);
}, 180_000);
