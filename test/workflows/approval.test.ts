import type { ConfigInput, SolveInput, SolveResult, Step } from '../../src';
import { endOf, refusalOf, solveAnd, untilTrace } from '../support/until';
import { ACCEPT, openStage, step, useStage } from './stage';

const question = 'Where does the Danube rise?';
const PLAN = [step('a', 'Find the sources.'), step('b', 'Weigh them.', [0])];

const stage = useStage({ config: { recursion: 'both', limits: { depth: 0 } } });

/** Starts a run whose plan needs approval, and returns its id once it waits. */
async function startWaiting(input: Omit<SolveInput, 'question' | 'messages'> = {}): Promise<string> {
  const { id } = await stage.client.start({ approval: 'plan', ...input, question });
  await untilWaiting(id);
  return id;
}

/** Waits until a plan waits for approval after that many calls to the Conductor. */
function untilWaiting(id: string, calls = 1): Promise<SolveResult> {
  return untilTrace(stage, id, (trace) => trace.waitsFor === 'approval' && trace.usage.calls === calls);
}

describe('a plan that waits for approval', () => {
  test('is reported with what it may cost, and started only when approved', async () => {
    stage.plan(PLAN);
    await stage.whileWorking(async () => {
      const id = await startWaiting();
      const fromHistory = await stage.client.trace(id);
      const rounds = [{ plan: { steps: PLAN } }];
      expect(fromHistory).toMatchObject({ status: 'running', waitsFor: 'approval', rounds });
      expect(fromHistory.estimate).toMatchObject({ calls: 2 });
      expect(fromHistory.estimate?.nanoUsd).toBeGreaterThan(2 * 4096 * 10_000);
      const fromRun = await stage.temporal.client.workflow.getHandle(id).query<SolveResult>('state');
      expect(fromRun).toMatchObject({ waitsFor: 'approval', estimate: fromHistory.estimate });
      expect(stage.providers.log).toHaveLength(1);

      await stage.client.approvePlan(id);
      const result = await endOf(stage, id);
      expect(result).toMatchObject({ status: 'completed', estimate: fromHistory.estimate });
      expect(result.waitsFor).toBeUndefined();
      expect(stage.providers.log.map(({ model }) => model)).toEqual(['conductor', 'a', 'b']);
    });
  });

  test('can be replaced by another plan, which runs in its normal form', async () => {
    stage.plan(PLAN);
    stage.providers.answer('c', 'At the Breg.');
    const release = stage.providers.hold('c');
    await stage.whileWorking(async () => {
      const id = await startWaiting();
      const before = (await stage.client.trace(id)).estimate;
      const taken = await stage.client.editPlan(id, {
        steps: [step('b', 'One.'), step('b', 'Two.'), step('c', 'Sum up.', [1, 0, 1])],
      });
      const edited = [step('b', 'One.'), step('b', 'Two.'), step('c', 'Sum up.', [0, 1])];
      expect(taken.steps).toEqual(edited);

      await stage.providers.waitForRequest(({ model }) => model === 'c');
      const { estimate, rounds, waitsFor } = await stage.client.trace(id);
      expect({ steps: rounds[0]?.plan?.steps, waitsFor }).toEqual({ steps: edited, waitsFor: undefined });
      expect(estimate?.nanoUsd).toBeGreaterThan(before?.nanoUsd ?? 0);
      release();
      expect(await endOf(stage, id)).toMatchObject({ answer: 'At the Breg.', degraded: false, estimate });
      expect(stage.providers.log.map(({ model }) => model)).toEqual(['conductor', 'b', 'b', 'c']);
    });
  });

  test('can be rejected: the Conductor is told why, and its next plan waits in turn', async () => {
    stage.plan(PLAN);
    stage.plan([step('c', 'Answer it.')]);
    await stage.whileWorking(async () => {
      const id = await startWaiting();
      await stage.client.rejectPlan(id, 'One worker is enough.');
      const { rounds, calls } = await untilWaiting(id, 2);
      expect(rounds.map(({ plan }) => plan?.steps)).toEqual([[step('c', 'Answer it.')]]);
      expect(calls.map(({ purpose }) => purpose)).toEqual(['plan', 'plan']);
      const [, second] = stage.providers.log;
      expect(second?.body).toContain('The person who asked does not want this plan.');
      expect(second?.body).toContain('One worker is enough.');
      expect(second?.body).toContain('Find the sources.');
      await stage.client.approvePlan(id);
      const result = await endOf(stage, id);
      expect(result).toMatchObject({ status: 'completed', degraded: false });
      expect(result.calls.map(({ purpose }) => purpose)).toEqual(['plan', 'plan', 'step']);
      expect(result.calls.map(({ error }) => error)).toEqual([null, null, null]);
    });
  });

  test('ends the run when nobody decides in time', async () => {
    stage.plan(PLAN);
    const result = await stage.solve({ question, approval: 'plan', limits: { approval: '1s' } });
    const error = { type: 'Limit.Approval' };
    expect(result).toMatchObject({ status: 'failed', stoppedBy: 'approval', answer: null, error });
    expect(result.error?.message).toContain('no one decided on the plan within 1 s');
    expect(result.waitsFor).toBeUndefined();
    expect(stage.providers.log).toHaveLength(1);
  });

  test('is decided only once, whatever arrives at the same moment', async () => {
    stage.plan(PLAN);
    await stage.whileWorking(async () => {
      const id = await startWaiting();
      const verdicts = [
        stage.client.approvePlan(id),
        stage.client.approvePlan(id),
        stage.client.rejectPlan(id, 'Too late.'),
        stage.client.editPlan(id, { steps: PLAN }),
      ];
      const outcomes = await Promise.allSettled(verdicts);
      expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(3);
      if (outcomes[2]?.status === 'fulfilled') await stage.client.cancel(id);
      await endOf(stage, id);
    });
  });
});

test('a configured plan is carried out without the Conductor, until a person rejects it', async () => {
  const steps = PLAN.map((step) => ({ ...step, sees: step.sees.map((seen) => seen + 1) }));
  const given = await openStage({
    configure: (config) => ({
      ...config,
      conductor: { ...config.conductor, plan: { steps } } as ConfigInput['conductor'],
    }),
  });
  await given.whileWorking(async () => {
    const { rounds, calls, degraded } = await given.client.solve({ question });
    expect(rounds.map(({ plan }) => plan?.steps)).toEqual([PLAN]);
    expect(rounds[0]?.isGiven).toBe(true);
    expect([degraded, ...calls.map(({ purpose }) => purpose)]).toEqual([false, 'step', 'step']);
    expect(given.providers.log.map(({ model }) => model)).toEqual(['a', 'b']);

    const { id } = await given.client.start({ question, approval: 'plan' });
    const waiting = (steps: readonly Step[]) =>
      untilTrace(
        given,
        id,
        (trace) => trace.waitsFor === 'approval' && trace.rounds[0]?.plan?.steps.length === steps.length,
      );
    await waiting(PLAN);
    given.plan([step('c', 'Answer it.')]);
    await given.client.rejectPlan(id, 'One worker is enough.');
    await waiting([step('c', 'Answer it.')]);
    expect((await given.client.trace(id)).rounds[0]).not.toHaveProperty('isGiven');
    expect(given.providers.log.at(-1)?.body).toContain('Find the sources.');
    await given.client.approvePlan(id);
    expect((await endOf(given, id)).calls.map(({ worker }) => worker)).toEqual(['conductor', 'c']);
  });
  await given.close();
});

test('a decision is refused if no plan waits', async () => {
  stage.plan(PLAN);
  const result = await solveAnd(stage, 'a', async (id) => {
    const verdicts = [
      stage.client.approvePlan(id),
      stage.client.editPlan(id, { steps: PLAN }),
      stage.client.rejectPlan(id, 'Why not.'),
    ];
    for (const verdict of verdicts) {
      expect(await refusalOf(verdict)).toContain('this run has no plan waiting for approval');
    }
  });
  expect(result).toMatchObject({ status: 'completed', degraded: false });
});

describe('plans that wait for approval', () => {
  beforeEach(() => {
    stage.plan([step('conductor', 'Go deeper.')]);
    stage.plan([step('a', 'Find the sources.')]);
  });
  const limits = { depth: 1 };

  test('with `plan`: those of the run itself alone', async () => {
    stage.providers.script('conductor', [ACCEPT]);
    await stage.whileWorking(async () => {
      const id = await startWaiting({ limits });
      await stage.client.approvePlan(id);
      expect((await endOf(stage, id)).rounds).toHaveLength(3);
    });
  });

  test('with `all`: also those of its children and of the corrections of a review', async () => {
    stage.plan([step('b', 'Correct it.')]);
    await stage.whileWorking(async () => {
      const id = await startWaiting({ approval: 'all', limits });
      await stage.client.approvePlan(id);
      await untilWaiting(id, 2);
      expect(await refusalOf(stage.client.approvePlan(id))).toContain('this run has no plan waiting');
      await stage.client.approvePlan(`${id}-r0s1`);
      await untilWaiting(id, 4);
      await stage.client.editPlan(`${id}-review`, { steps: [step('c', 'Leave it.')] });
      const { rounds, status } = await endOf(stage, id);
      expect(status).toBe('completed');
      const workers = rounds.map(({ plan }) => plan?.steps.map(({ worker }) => worker));
      expect(workers).toEqual([['conductor'], ['a'], ['c']]);
    });
  });
});

test("the time that a person takes does not count towards the run's limit", async () => {
  stage.plan(PLAN);
  await stage.whileWorking(async () => {
    const wallClockMs = 8000;
    const begun = Date.now();
    const id = await startWaiting({ limits: { wallClock: `${wallClockMs}ms` } });
    await untilTrace(stage, id, () => Date.now() > begun + wallClockMs);
    await stage.client.approvePlan(id);
    expect(await endOf(stage, id)).toMatchObject({ status: 'completed', stoppedBy: null, degraded: false });
  });
});
