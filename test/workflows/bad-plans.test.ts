import type { Plan, Step } from '../../src';
import { endOf, refusalOf, untilTrace } from '../support/until';
import { step, useStage } from './stage';

const question = 'Where does the Danube rise?';
const GOOD = [step('b', 'Answer it.')];

const stage = useStage();

/** Does some work while a plan that must not use worker `a` waits for approval; approves it in the end. */
async function whileWaiting(work: (id: string) => Promise<void>): Promise<void> {
  stage.plan(GOOD);
  await stage.whileWorking(async () => {
    const { id } = await stage.client.start({ question, approval: 'plan', pool: { deny: ['a'] } });
    await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'approval');
    await work(id);
    expect((await stage.client.trace(id)).waitsFor).toBe('approval');
    expect(stage.providers.log.map(({ model }) => model)).toEqual(['conductor']);
    await stage.client.approvePlan(id);
    expect(await endOf(stage, id)).toMatchObject({ status: 'completed', degraded: false });
  });
}

const many = (count: number): Step[] => Array.from({ length: count }, () => step('b', 'Once more.'));

describe("a person's plan is refused with the message of the plan language", () => {
  test('if it breaks a rule', async () => {
    const refused: readonly (readonly [readonly Step[], string])[] = [
      [[step('z', 'An unknown worker.')], 'There is no worker "z" in the pool'],
      [[step('a', 'One that this request excludes.')], 'There is no worker "a" in the pool'],
      [[step('conductor', 'No depth is left.')], 'There is no worker "conductor" in the pool'],
      [[step('../b', 'A path.')], 'There is no worker "../b" in the pool'],
      [[step('http://127.0.0.1/v1', 'An address.')], 'There is no worker "http://127.0.0.1/v1" in the pool'],
      [[step('b', 'One.', [1]), step('b', 'Two.')], 'Step 0 cannot see step 1'],
      [[], 'The plan has no steps'],
      [many(6), 'The plan has 6 steps, but at most 5 are allowed'],
      [many(10_000), 'The plan has 10000 steps, but at most 5 are allowed'],
      [[step('b', 'Word. '.repeat(2000))], 'at most 8192 are allowed'],
    ];
    await whileWaiting(async (id) => {
      for (const [steps, words] of refused) {
        expect(await refusalOf(stage.client.editPlan(id, { steps }))).toContain(words);
      }
    });
  });

  test('if it is not a plan at all', async () => {
    const misshapen = [{}, { steps: 'all' }, { steps: [{ worker: 'b' }] }, [], null] as unknown as Plan[];
    await whileWaiting(async (id) => {
      for (const plan of misshapen) {
        expect(await refusalOf(stage.client.editPlan(id, plan))).toContain('This is not a plan');
      }
    });
  });
});

test("a person's plan is held to the limits in force when it arrives", async () => {
  await whileWaiting(async (id) => {
    await stage.client.setLimits(id, { steps: 1 });
    const two = { steps: [step('b', 'One.'), step('b', 'Two.')] };
    expect(await refusalOf(stage.client.editPlan(id, two))).toContain('at most 1 are allowed');
  });
});

test('a rejection with an empty or overlong reason is refused', async () => {
  await whileWaiting(async (id) => {
    for (const reason of ['', ' \n', 'x'.repeat(4001)]) {
      const refusal = await refusalOf(stage.client.rejectPlan(id, reason));
      expect(refusal).toContain('reason in the input of rejectPlan is');
    }
  });
});

describe('an invalid plan is shown to the Conductor with its error, and repaired', () => {
  const reply = (ids: string, sees = '[[]]', subtasks = '["Answer it."]'): string =>
    `model_id = ${ids}\nsubtasks = ${subtasks}\naccess_list = ${sees}`;
  const lists = (count: number): string => {
    const list = (entry: unknown): string => JSON.stringify(Array<unknown>(count).fill(entry));
    return reply(list(1), list([]), list('Once more.'));
  };

  const bad = [
    reply('[7]'),
    // The Conductor as a worker, though no depth is left.
    reply('[3]'),
    reply('["../b"]'),
    reply('["http://127.0.0.1:1/v1"]'),
    reply('[1, 1]', '[[1], []]', '["One.", "Two."]'),
    lists(6),
    lists(10_000),
  ];

  test('before anything else is done', async () => {
    await stage.whileWorking(async () => {
      for (const each of bad) {
        stage.providers.script('conductor', [each]);
        stage.plan(GOOD);
        const { status, degraded, calls, rounds } = await stage.client.solve({ question });
        expect([status, degraded]).toEqual(['completed', false]);
        expect(rounds[0]).not.toHaveProperty('error');
        expect(calls.map(({ purpose, worker, error }) => [purpose, worker, error?.type])).toEqual([
          ['plan', 'conductor', 'Plan.Invalid'],
          ['repair', 'conductor', undefined],
          ['step', 'b', undefined],
        ]);
        const repair = stage.providers.log.at(-2)?.body;
        for (const told of [each.slice(0, 12), 'no valid plan', calls[0]?.error?.message]) {
          expect(repair).toContain(asJson(told));
        }
      }
    });
    expect(stage.providers.log).toHaveLength(3 * bad.length);
  });
});

test('a run may change how plans say what a step sees, and its Conductor is held to it', async () => {
  const twice = [step('a', 'Find one.'), step('b', 'Find another.'), step('b', 'Answer it.', [0])];
  const conductor = { access: 'binary' } as const;
  await stage.whileWorking(async () => {
    stage.plan(twice);
    expect((await stage.client.solve({ question })).calls[0]).not.toHaveProperty('error.type');
    stage.plan(twice);
    stage.plan(GOOD);
    const { calls } = await stage.client.solve({ question, conductor });
    expect(calls[0]?.error).toMatchObject({
      type: 'Plan.Invalid',
      message: expect.stringMatching('not "0"') as string,
    });
    const [, asked] = stage.requestsTo('conductor');
    expect(asked?.body).not.toContain('numbers of earlier steps');
  });
});

/** Returns a text as it appears inside a JSON body. */
function asJson(text = ''): string {
  return JSON.stringify(text).slice(1, -1);
}
