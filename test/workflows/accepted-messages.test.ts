import { ADD_HINT_SIGNAL, SOLVE_WORKFLOW } from '../../src/protocol/names';
import { endOf, refusalOf } from '../support/until';
import { openStage, type Stage, step } from '../support/stage';

const question = 'Where does the Danube rise?';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  await stage.close();
});

describe('what a run accepts never keeps it from its end', () => {
  test.each([
    [
      'kept outputs of half a byte',
      {
        given: {
          plan: { steps: [step('a', 'x'), step('b', 'y', [0])] },
          outputs: [{ ref: 'sha256-0', bytes: 0.5, preview: '' }, null],
        },
      },
    ],
    ['a field that no object has', { pool: JSON.parse('{ "__proto__": 1 }') as unknown }],
    ['more steps than a result can hold', { limits: { steps: 1000 } }],
  ])('%s: the run fails with a sentence', async (_, input) => {
    await stage.whileWorking(async () => {
      const handle = await stage.temporal.client.workflow.start(SOLVE_WORKFLOW, {
        workflowId: `accepted-${Math.random()}`,
        taskQueue: stage.taskQueue,
        args: [{ question, ...input }],
        workflowRunTimeout: '20s',
      });
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'Solve.BadInput' } });
    });
  });

  test('a wall clock beyond every timer is refused, and hints without number are not carried along', async () => {
    const release = stage.providers.hold('conductor');
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan([step('a', 'Answer it.')]);
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question });
      await stage.providers.waitForRequest(({ model }) => model === 'conductor');
      expect(await refusalOf(stage.client.setLimits(id, { wallClockMs: 1e15 }))).toContain(
        'wallClockMs in the input of setLimits is 1000000000000000: it must be a whole number of milliseconds from 1 to 2073600000 (24 days)',
      );
      const handle = stage.temporal.client.workflow.getHandle(id);
      for (let hint = 1; hint <= 55; hint += 1) await handle.signal(ADD_HINT_SIGNAL, `Mind rule ${hint}!`);
      release();
      expect(await endOf(stage, id)).toMatchObject({ status: 'completed' });
    });
    const [, repair] = stage.providers.log.filter(({ model }) => model === 'conductor');
    expect(repair?.body).toContain('Mind rule 50!');
    expect(repair?.body).not.toContain('Mind rule 51!');
  });
});
