import type { Client } from '@temporalio/client';
import { endOf, solveAnd, until } from '../support/until';
import { openStage, step, type Stage } from './stage';

describe('cancelling a run', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({ config: { temporal: { heartbeat: '1s' } } });
  });
  afterEach(() => stage.close());

  test('closes its HTTP calls, makes no further ones, and ends as cancelled', async () => {
    stage.plan([step('a', 'Slow.'), step('b', 'Slow as well.'), step('c', 'Never asked.', [0, 1])]);
    stage.providers.hold('a');
    stage.providers.hold('b');
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'Is it stopped?' });
      const open = await Promise.all(
        ['a', 'b'].map((model) => stage.providers.waitForRequest((record) => record.model === model)),
      );
      await stage.client.cancel(id);
      await Promise.all(open.map(({ sequence }) => stage.providers.waitForClose(sequence)));

      let last;
      for await (const trace of stage.client.watch(id)) last = trace;
      expect(last).toMatchObject({ status: 'cancelled', answer: null });
      const description = await stage.temporal.client.workflow.getHandle(id).describe();
      expect(description.status.name).toBe('CANCELLED');
      expect(stage.providers.log).toHaveLength(3);
      const rows = await stage.rows(id);
      expect(rows.filter((row) => row.error?.type === 'Run.Cancelled')).toHaveLength(2);
      expect(rows.filter((row) => row.nanoUsd === null)).toHaveLength(2);
      // Calls that were cut off may be billed: the trace lists them, and marks its sum as a lower bound.
      expect(idsOf(last?.calls)).toEqual(idsOf(rows));
      expect(last).toMatchObject({ costIsLowerBound: true, usage: { calls: 3 } });
    });
  });

  test('is not what a call says that somebody paused in Temporal: it waits, says so, and is made again', async () => {
    stage.plan([step('a', 'Slow.')]);
    const { client } = stage.temporal;
    const result = await solveAnd(stage, 'a', async (id) => {
      const { raw } = await client.workflow.getHandle(id).describe();
      const call = {
        namespace: client.options.namespace,
        execution: { workflowId: id },
        id: raw.pendingActivities?.[0]?.activityId ?? '',
      };
      await client.workflowService.pauseActivity(call);
      const [paused] = await until(
        () => stage.client.retries(id),
        ([retry]) => retry?.waitsFor === 'pause',
      );
      expect(paused?.reason).toBe(
        `step 1 (a) is paused in Temporal: "temporal activity unpause --workflow-id ${id} --activity-id ${call.id}" ` +
          'lets it go on',
      );
      expect(await stage.client.trace(id)).toMatchObject({ waitsFor: 'pause', waitReason: paused?.reason });
      await until(
        () => stage.rows(id),
        (rows) => rows.some(({ error }) => error !== null),
      );
      await client.workflowService.unpauseActivity(call);
    });
    expect(result).toMatchObject({ status: 'completed', degraded: false, costIsLowerBound: true });
    const errors = result.calls.map(({ error }) => error);
    const message = 'the call was paused in Temporal (activity pause) while it was under way';
    expect(errors).toEqual([null, { type: 'Worker.Stopped', message }, null]);
  });

  test('waits for the calls of children, even if messages to them arrive meanwhile', async () => {
    await stage.close();
    // A call learns of its cancellation by a heartbeat; this long one leaves time for a message first.
    const temporal = { heartbeat: '10s' };
    stage = await openStage({ config: { recursion: 'worker', limits: { depth: 1 }, temporal } });
    stage.plan([step('conductor', 'Go deeper.')]);
    stage.plan([step('a', 'Slow.')]);
    stage.providers.hold('a');
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'Is it stopped?' });
      const { sequence } = await stage.providers.waitForRequest(({ model }) => model === 'a');
      await stage.client.cancel(id);
      await untilCancelling(stage.temporal.client, `${id}-r0s1`);
      await stage.client.addHint(id, 'Too late.');
      await stage.client.setLimits(id, { calls: 1 });
      const child = stage.temporal.client.workflow.getHandle(`${id}-r0s1`);
      const isOpen = async (): Promise<boolean> => (await child.describe()).status.name === 'RUNNING';
      const end = endOf(stage, id).then(async (result) => ({ result, isChildOpen: await isOpen() }));
      await stage.providers.waitForClose(sequence);
      expect(await end).toMatchObject({ result: { status: 'cancelled' }, isChildOpen: false });
    });
  });

  test('leaves no attempt out of its trace, though the server reports none of those that await a retry', async () => {
    stage.plan([step('a', 'Try.')]);
    stage.providers.script('a', [{ fault: 'rate-limited', retryAfter: { as: 'seconds', ms: 60_000 } }]);
    await stage.whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'Is it stopped?' });
      await until(
        () => stage.client.retries(id),
        (retries) => retries.length > 0,
      );
      await stage.client.cancel(id);
      const last = await endOf(stage, id);
      expect(last.status).toBe('cancelled');
      expect(idsOf(last.calls)).toEqual(idsOf(await stage.rows(id)));
      expect(last).toMatchObject({ usage: { calls: 2 }, costIsLowerBound: false });
    });
  });

  test('works while the Conductor is thinking', async () => {
    stage.plan([step('a', 'Never asked.')]);
    const result = await solveAnd(stage, 'conductor', async (id) => {
      await stage.client.cancel(id);
      await stage.providers.waitForClose(stage.providers.log[0]?.sequence ?? 0);
    });
    expect(result.status).toBe('cancelled');
    expect(stage.providers.log).toHaveLength(1);
  });
});

function idsOf(calls: readonly { callId: string }[] = []): string[] {
  return calls.map(({ callId }) => callId).sort();
}

/** Waits until a run has been asked to stop. */
async function untilCancelling(client: Client, id: string): Promise<void> {
  await until(
    () => client.workflow.getHandle(id).fetchHistory(),
    ({ events }) => events?.some((event) => event.workflowExecutionCancelRequestedEventAttributes) ?? false,
  );
}
