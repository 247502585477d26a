import { Worker } from '@temporalio/worker';
import { MAX_HINTS, MAX_MESSAGES } from '../../src/protocol/messages';
import { Turns } from '../../src/runtime/turns';
import { step, useStage } from '../support/stage';
import { loggedLines, workflowBundle } from '../support/temporal';
import { endOf, refusalOf, untilTrace } from '../support/until';

const SIGNALS = 2000;
const question = 'Where does the Danube rise?';

const stage = useStage({ config: { recursion: 'worker', limits: { depth: 1, calls: 20 } } });

/** Sends hints and depths to a run by a client of Temporal's own, which refuses none. */
async function flood(id: string): Promise<void> {
  const run = stage.temporal.client.workflow.getHandle(id);
  const turns = new Turns(50);
  const sent = Array.from({ length: SIGNALS }, (_, index) => [
    turns.take(() => run.signal('addHint', `Mind rule ${index}!`)),
    turns.take(() => run.signal('setMaxDepth', 0)),
  ]);
  await Promise.all(sent.flat());
}

test(`${2 * SIGNALS} signals that came while no worker ran hold up no run: it can be steered, and ends as usual`, async () => {
  stage.plan([step('conductor', 'Go deeper.')]);
  stage.plan([step('a', 'Find the sources.')]);
  const { id } = await stage.client.start({ question, approval: 'plan' });
  const { id: other } = await stage.client.start({ question, approval: 'plan' });
  await Promise.all([flood(id), flood(other)]);
  await stage.whileWorking(async () => {
    await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'approval');
    expect(await stage.client.limits(id)).toMatchObject({ depth: 0 });
    expect(await stage.client.setLimits(id, { calls: 10, depth: 1 })).toMatchObject({ calls: 10, depth: 1 });
    await stage.client.approvePlan(id);
    expect(await endOf(stage, id)).toMatchObject({ status: 'completed', degraded: false, stoppedBy: null });
    await stage.client.cancel(other);
    expect(await endOf(stage, other)).toMatchObject({ status: 'cancelled' });
  });
  const [planned] = stage.requestsTo('conductor');
  expect(new Set(planned?.body.match(/Mind rule \d+!/g)).size).toBe(MAX_HINTS);
  const complaints = loggedLines().filter((line) => line.includes('of them a run'));
  expect(complaints).toHaveLength(2 * 2);

  const history = await stage.temporal.client.workflow.getHandle(id).fetchHistory();
  await Worker.runReplayHistory({ workflowBundle: workflowBundle() }, history, id);
}, 300_000);

test(`${MAX_MESSAGES} changes of limits leave room for the decision on a plan`, async () => {
  stage.plan([step('a', 'Find the sources.')]);
  await stage.whileWorking(async () => {
    const { id } = await stage.client.start({ question, approval: 'plan' });
    await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'approval');
    const turns = new Turns(8);
    const change = () => turns.take(() => stage.client.setLimits(id, { calls: 10 }));
    await Promise.all(Array.from({ length: MAX_MESSAGES }, change));
    expect(await refusalOf(change())).toContain(`changed ${MAX_MESSAGES} times, the most that it accepts`);
    await stage.client.approvePlan(id);
    expect(await endOf(stage, id)).toMatchObject({ status: 'completed' });
  });
}, 300_000);

test('changes beyond those that Temporal keeps for a run are refused in words of ours', async () => {
  const { id } = await stage.client.start({ question });
  const changes = Array.from({ length: 11 }, () => stage.client.setLimits(id, { calls: 10 }));
  const refused = await Promise.any(
    changes.map((each) => each.then(() => Promise.reject(new Error()), String)),
  );
  expect(refused).toContain(`run ${id} was not changed: as many changes as Temporal keeps for one run wait`);
  await stage.whileWorking(() => Promise.allSettled(changes));
}, 300_000);
