import { defaultPayloadConverter } from '@temporalio/common';
import { step, useStage } from './stage';
import { endOf, solveAnd } from '../support/until';
import { stateQuery } from '../../src/workflows';

const stage = useStage();

describe('what people see of a run', () => {
  beforeEach(() => {
    stage.plan([step('a', 'Look it up.'), step('b', 'Check it.', [0])]);
    stage.providers.answer('b', 'checked');
  });

  test("Temporal's own page tells the story: a summary per call, and the plan as it stands", async () => {
    await stage.whileWorking(async () => {
      const { id } = await stage.client.solve({ question: 'What is to be seen?' });
      const handle = stage.temporal.client.workflow.getHandle(id);
      const { events } = await handle.fetchHistory();
      const summaries = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes, userMetadata }) =>
        activityTaskScheduledEventAttributes && userMetadata?.summary
          ? [defaultPayloadConverter.fromPayload(userMetadata.summary)]
          : [],
      );
      expect(summaries).toEqual(['plan', 'step 1 · a (a) · Look it up.', 'step 2 · b (b) · Check it.']);
      expect(await (await handle.describe()).staticSummary()).toBe('What is to be seen?');

      const metadata = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
      expect(metadata.currentDetails).toContain('**completed**');
      expect(metadata.currentDetails).toMatch(
        /\| 2\s+\| 2\s+\| b\s+\| Check it\.\s+\| 1\s+\| done: checked\s+\|/,
      );
    });
  });

  test('the state can be queried during the run, and followed without asking the worker', async () => {
    await solveAnd(stage, 'b', async (id) => {
      const state = await stage.temporal.client.workflow.getHandle(id).query(stateQuery);
      const seen = await stage.client.trace(id);
      for (const trace of [state, seen]) {
        expect(trace.status).toBe('running');
        expect(trace.rounds[0]?.steps.map(({ output }) => output === null)).toEqual([false, true]);
      }
      expect(seen.calls).toEqual(state.calls);
    });
  });

  test('watching reports each step when it is done, and ends with the run', async () => {
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'Is it followed?' });
      const finished: number[] = [];
      for await (const { rounds, status } of stage.client.watch(id)) {
        const done = rounds[0]?.steps.filter(({ output }) => output !== null).length ?? 0;
        if (finished.at(-1) !== done) finished.push(done);
        if (status === 'completed') finished.push(-1);
      }
      expect(finished.at(-1)).toBe(-1);
      expect([...finished.slice(0, -1)].sort()).toEqual(finished.slice(0, -1));
    });
  });
});

test.each([
  [{ question: '' }, 'Solve.BadInput', /at least a word/],
  [{ question: 5 }, 'Solve.BadInput', /question/],
  [undefined, 'Solve.BadInput', /input/],
  ['Who?', 'Solve.BadInput', /object/],
  [{ question: 'Who?', depth: 3 }, 'Solve.BadInput', /depth/],
  [{ question: 'Who?', pool: { allow: ['nobody'] } }, 'Configuration.Invalid', /nobody/],
])('an input of %j fails at once with %s', async (input, type, message) => {
  const { taskQueue } = stage;
  await stage.whileWorking(async () => {
    const workflowId = `bad-${taskQueue}`;
    await stage.temporal.client.workflow.start('conductorSolve', { workflowId, taskQueue, args: [input] });
    const last = await endOf(stage, workflowId);
    expect(last).toMatchObject({ status: 'failed', error: { type } });
    expect(last.error?.message).toMatch(message);
    expect(stage.providers.log).toHaveLength(0);
  });
});
