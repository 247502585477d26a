import { refusalOf, solveAnd, until, untilHeard } from '../support/until';
import { ACCEPT, step, useStage } from './stage';
import { loggedLines } from '../support/temporal';

const HINT = 'Mind the confluence at Donaueschingen.';

const stage = useStage({ config: { recursion: 'both', limits: { depth: 2 } } });

/** Returns, for each request to the Conductor, whether it held a text. */
function shownToConductor(text: string): boolean[] {
  const asked = stage.requestsTo('conductor');
  return asked.map(({ body }) => body.includes(text));
}

describe('a hint', () => {
  test('is shown from the next call on: to a repair, a review, and a review of that', async () => {
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan([step('a', 'Answer it.')]);
    stage.plan([step('b', 'Correct it.')]);
    stage.providers.script('conductor', [ACCEPT]);
    const { calls } = await solveAnd(stage, 'conductor', async (id) => {
      await stage.client.addHint(id, HINT);
    });
    const asked = calls.flatMap(({ purpose }) => (purpose === 'step' ? [] : purpose));
    expect(asked).toEqual(['plan', 'repair', 'review', 'review']);
    expect(shownToConductor(HINT)).toEqual([false, true, true, true]);
    const toWorkers = stage.providers.log.filter(({ model }) => model !== 'conductor');
    expect(toWorkers.filter(({ body }) => body.includes(HINT))).toEqual([]);
  });

  test('is known to a child that starts later', async () => {
    stage.plan([step('a', 'Find the sources.'), step('conductor', 'Weigh them.', [0])]);
    stage.plan([step('b', 'Compare.')]);
    stage.providers.script('conductor', [ACCEPT, ACCEPT]);
    await solveAnd(stage, 'a', async (id) => {
      await stage.client.addHint(id, HINT);
    });
    expect(shownToConductor(HINT)).toEqual([false, true, true, true]);
  });

  test('reaches a running child, after the hints that it was started with', async () => {
    stage.plan([step('a', 'Find the sources.'), step('conductor', 'Weigh them.', [0])]);
    stage.plan([step('b', 'Compare.')]);
    stage.providers.script('conductor', [ACCEPT, ACCEPT]);
    const release = stage.providers.hold('b');
    await solveAnd(stage, 'a', async (id, letGo) => {
      await stage.client.addHint(id, 'First of all.');
      letGo();
      await stage.providers.waitForRequest(({ model }) => model === 'b');
      await stage.client.addHint(id, HINT);
      await untilHeard(stage.temporal.client, `${id}-r0s2`, 'addHint');
      release();
    });
    // In order: the run's plan, its child's plan, the review in the child, the review in the run.
    expect(shownToConductor('First of all.')).toEqual([false, true, true, true]);
    expect(shownToConductor(HINT)).toEqual([false, false, true, true]);
    expect(shownToConductor(`- First of all.\\n- ${HINT}`)).toEqual([false, false, true, true]);
  });

  test('that is invalid is ignored, and the log says so', async () => {
    stage.plan([step('a', 'Answer it.')]);
    stage.providers.script('conductor', [ACCEPT]);
    const result = await solveAnd(stage, 'a', async (id) => {
      const run = stage.temporal.client.workflow.getHandle(id);
      for (const hint of ['', ' \n', 7, null, 'x'.repeat(4001)]) await run.signal('addHint', hint);
    });
    expect(result).toMatchObject({ status: 'completed', degraded: false });
    expect(shownToConductor('wants you to mind')).toEqual([false, false]);
    const complaints = loggedLines().filter((line) => line.includes('signal addHint ignored'));
    expect(complaints).toHaveLength(1);
  });

  test('beyond the fiftieth is ignored by the run, and refused by the client', async () => {
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan([step('a', 'Answer it.')]);
    await solveAnd(stage, 'conductor', async (id) => {
      const run = stage.temporal.client.workflow.getHandle(id);
      for (let hint = 1; hint <= 55; hint += 1) await run.signal('addHint', `Mind rule ${hint}!`);
      // What comes during a workflow task enters the history after it.
      const refusal = await until(
        () => refusalOf(stage.client.addHint(id, HINT)),
        (said) => said.startsWith('run '),
      );
      expect(refusal).toMatch(
        /^run .* was sent addHint \d+ times, and takes it 50 times at most: let it end, cancel it, or start another run$/,
      );
    });
    expect(shownToConductor('Mind rule 50!')).toContain(true);
    expect(shownToConductor('Mind rule 51!')).not.toContain(true);
  });
});
