import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@temporalio/client';
import { type ChildProgram, runProgram, trainerPython } from '../../research/support/programs';
import type { ConfigInput } from '../../src';
import { DEFAULT_TASK_QUEUE, SOLVE_WORKFLOW } from '../../src/protocol/names';
import type { conductorSolve } from '../../src/workflows';
import { SqliteStore } from '../../src/store/sqlite-store';
import { freshFolder } from '../local/fresh-folder';
import { openStage, type Stage, step } from '../support/stage';
import { openNamespace } from '../support/temporal';

/*
 * Runs the unchanged examples in Python and Go against a worker of ours. They get their own namespace, since every copy
 * of them uses the same task queues. The first build of the Go example takes minutes.
 */
jest.setTimeout(600_000);

const EXAMPLES = resolve(__dirname, '../../examples');
const ACCEPT = 'model_id = []\nsubtasks = []\naccess_list = []';
/** Too long to be sent inline: the activity gets a reference into the store. */
const LONG = 'The Danube rises in the Black Forest. '.repeat(200);

const QUESTION = 'Where does the Danube rise?';

const hasGo = spawnSync('go', ['version']).status === 0;
if (!hasGo) console.warn('The example in Go is not run: there is no "go" on the PATH.');

let stage: Stage;
let client: Client;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  const database = join(await freshFolder(), 'store.db');
  const store = new SqliteStore(database);
  stage = await openStage({ workers: ['a', 'b', 'counter'], configure: withCounter, store });
  const { temporal } = stage;
  const namespace = await openNamespace(temporal);
  client = new Client({ connection: temporal.client.connection, namespace });
  const server = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: namespace };
  env = { ...process.env, ...server, CONDUCTOR_STORE: database };
});
afterAll(() => stage.close());

function withCounter(config: ConfigInput): ConfigInput {
  const [a, b] = config.workers;
  const counter = { id: 'counter', provider: 'activity', type: 'countWords', taskQueue: 'counters' } as const;
  return { ...config, workers: [a, b, counter].flatMap((worker) => worker ?? []) };
}

function whileWorking<T>(work: () => Promise<T>): Promise<T> {
  const { namespace } = client.options;
  return stage.whileWorking(work, { namespace, taskQueue: DEFAULT_TASK_QUEUE });
}

/** Commands of the examples that ask a question; Go caches its builds. */
const EXAMPLES_THAT_ASK = {
  python: async (): Promise<string[]> => [await trainerPython(), join(EXAMPLES, 'python/ask.py')],
  go: async (): Promise<string[]> => {
    const program = join(stage.folder, 'ask');
    const build = ['build', '-mod=readonly', '-o', program, '.'];
    await promisify(execFile)('go', build, { cwd: join(EXAMPLES, 'go') });
    return [program];
  },
};

describe.each(hasGo ? (['python', 'go'] as const) : (['python'] as const))(
  'the example in %s',
  (language) => {
    let command: string[];
    beforeAll(async () => {
      command = await EXAMPLES_THAT_ASK[language]();
    });

    /** Lets the example start and steer a run, then lets the Conductor answer. */
    async function ask(): Promise<ChildProgram & { readonly id: string }> {
      const [program = '', ...args] = command;
      const release = stage.providers.hold('conductor');
      stage.plan([step('a', 'Where?')]);
      const child = runProgram(program, [...args, QUESTION], env);
      const id = (await child.nextLine()).replace('Run ', '');
      expect(await child.nextLine()).toBe('It may make 20 calls to models.');
      release();
      return { ...child, id };
    }

    test('starts a run, steers it, and reads the answer with its cost', async () => {
      const trace = await whileWorking(async () => {
        stage.providers.script('a', ['In the Black Forest.']);
        const program = await ask();
        stage.providers.script('conductor', [ACCEPT]);
        expect(await program.nextLine()).toBe('In the Black Forest.');
        expect(await program.nextLine()).toMatch(/^3 calls, \$0\.0\d{3}$/);
        expect(await program.ended()).toBe(0);
        return client.workflow.getHandle<typeof conductorSolve>(program.id).result();
      });
      expect(trace).toMatchObject({ question: QUESTION, rounds: [{ depth: 0 }, { depth: 1 }] });
      const review = stage.providers.log.filter(({ model }) => model === 'conductor').at(-1);
      expect(review?.body).toContain('Answer in one sentence.');
    });

    test('says why there is no answer, and exits with code 1', async () => {
      await whileWorking(async () => {
        stage.providers.script('a', [{ fault: 'bad-request' }]);
        const program = await ask();
        await expect(program.nextLine()).rejects.toThrow(/No answer\..*no step gave an answer\. step 1: /s);
        expect(await program.ended()).toBe(1);
      });
    });
  },
);

describe('the pool worker in Python', () => {
  let counter: ChildProgram;
  beforeAll(async () => {
    counter = runProgram(await trainerPython(), [join(EXAMPLES, 'python/count_words.py')], env);
  });
  afterAll(() => counter.kill());

  test('gets a step, reads a long text from the store, and passes on its result', async () => {
    expect(await counter.nextLine()).toBe('Counting words. Press Ctrl-C to stop.');
    stage.plan([step('a', 'Tell all.'), step('counter', 'Count.', [0]), step('b', 'Say it.', [1])]);
    stage.providers.script('a', [LONG]);
    stage.providers.script('b', ['It is told at length.']);
    const trace = await whileWorking(() =>
      client.workflow.execute<typeof conductorSolve>(SOLVE_WORKFLOW, {
        workflowId: 'counted',
        taskQueue: DEFAULT_TASK_QUEUE,
        args: [{ question: QUESTION }],
      }),
    );
    await counter.stop();

    const output = 'The output of step 1 has 1400 words.';
    expect(trace).toMatchObject({ answer: 'It is told at length.', costIsLowerBound: true, degraded: false });
    expect(trace).toMatchObject({ rounds: [{ steps: [{}, { worker: 'counter', output }, {}] }] });
    expect(stage.providers.log.at(-1)?.body).toContain(output);
    expect(await counter.ended()).toBe(0);
  });

  test('requires the version of temporalio that it was run with', async () => {
    const required = await readFile(join(EXAMPLES, 'python/requirements.txt'), 'utf8');
    const locked = await readFile(resolve(EXAMPLES, '../trainer/requirements.lock'), 'utf8');
    expect(locked.split('\n')).toContain(`${required.trim()} \\`);
  });
});
