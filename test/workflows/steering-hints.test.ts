import type { SolveResult } from '../../src';
import { endOf, untilHeard } from '../support/until';
import { openStage, step, type Stage } from '../support/stage';
import { loggedLines } from '../support/temporal';

const ACCEPT = 'model_id = []\nsubtasks = []\naccess_list = []';
const HINT = 'Mind the confluence at Donaueschingen.';
const question = 'Where does the Danube rise?';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage({
    configure: (config) => ({ ...config, recursion: 'both', limits: { depth: 2, costUsd: null } }),
  });
});
afterEach(async () => {
  await stage.close();
});

/** Starts a run, does something when a model is asked for the first time, and waits for the end. */
async function solveAnd(name: string, work: (id: string) => Promise<void>): Promise<SolveResult> {
  return stage.whileWorking(async () => {
    const { id } = await stage.client.start({ question });
    await stage.providers.waitForRequest(({ model }) => model === name);
    await work(id);
    return endOf(stage, id);
  });
}

/** Which of the requests to the Conductor held a text. */
function shownToConductor(text: string): boolean[] {
  const asked = stage.providers.log.filter(({ model }) => model === 'conductor');
  return asked.map(({ body }) => body.includes(text));
}

describe('a hint', () => {
  test('is shown from the next call on: to a repair, a review, and a review of that', async () => {
    const release = stage.providers.hold('conductor');
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan([step('a', 'Answer it.')]);
    stage.plan([step('b', 'Correct it.')]);
    stage.providers.script('conductor', [ACCEPT]);
    const { calls } = await solveAnd('conductor', async (id) => {
      await stage.client.addHint(id, HINT);
      release();
    });
    expect(calls.flatMap(({ purpose }) => (purpose === 'step' ? [] : purpose))).toEqual([
      'plan',
      'repair',
      'review',
      'review',
    ]);
    expect(shownToConductor(HINT)).toEqual([false, true, true, true]);
    const toWorkers = stage.providers.log.filter(({ model }) => model !== 'conductor');
    expect(toWorkers.filter(({ body }) => body.includes(HINT))).toEqual([]);
  });

  test('is known to a child that starts after it', async () => {
    stage.plan([step('a', 'Find the sources.'), step('conductor', 'Weigh them.', [0])]);
    stage.plan([step('b', 'Compare.')]);
    stage.providers.script('conductor', [ACCEPT, ACCEPT]);
    const release = stage.providers.hold('a');
    await solveAnd('a', async (id) => {
      await stage.client.addHint(id, HINT);
      release();
    });
    expect(shownToConductor(HINT)).toEqual([false, true, true, true]);
  });

  test('reaches a child under way, after those that it was started with', async () => {
    stage.plan([step('a', 'Find the sources.'), step('conductor', 'Weigh them.', [0])]);
    stage.plan([step('b', 'Compare.')]);
    stage.providers.script('conductor', [ACCEPT, ACCEPT]);
    const [releaseA, releaseB] = [stage.providers.hold('a'), stage.providers.hold('b')];
    await solveAnd('a', async (id) => {
      await stage.client.addHint(id, 'First of all.');
      releaseA();
      await stage.providers.waitForRequest(({ model }) => model === 'b');
      await stage.client.addHint(id, HINT);
      await untilHeard(stage.temporal.client, `${id}-r0s2`, 'addHint');
      releaseB();
    });
    // The run's plan, its child's plan, the review in the child, the review in the run.
    expect(shownToConductor('First of all.')).toEqual([false, true, true, true]);
    expect(shownToConductor(HINT)).toEqual([false, false, true, true]);
    expect(shownToConductor(`- First of all.\\n- ${HINT}`)).toEqual([false, false, true, true]);
  });

  test('that makes no sense is left alone, and the log says so', async () => {
    stage.plan([step('a', 'Answer it.')]);
    stage.providers.script('conductor', [ACCEPT]);
    const release = stage.providers.hold('a');
    const result = await solveAnd('a', async (id) => {
      const run = stage.temporal.client.workflow.getHandle(id);
      for (const hint of ['', ' \n', 7, null, 'x'.repeat(4001)]) await run.signal('addHint', hint);
      release();
    });
    expect(result).toMatchObject({ status: 'completed', degraded: false });
    expect(shownToConductor('wants you to mind')).toEqual([false, false]);
    const complaints = loggedLines().filter((line) => line.includes('signal addHint ignored'));
    expect(complaints.length).toBeGreaterThanOrEqual(5);
  });

  test('beyond the fiftieth is not carried along', async () => {
    const release = stage.providers.hold('conductor');
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan([step('a', 'Answer it.')]);
    await solveAnd('conductor', async (id) => {
      for (let hint = 1; hint <= 55; hint += 1) await stage.client.addHint(id, `Mind rule ${hint}!`);
      release();
    });
    expect(shownToConductor('Mind rule 50!')).toContain(true);
    expect(shownToConductor('Mind rule 51!')).not.toContain(true);
  });
});
