import {
  type WorkflowUpdateHandle,
  WithStartWorkflowOperation,
  WorkflowUpdateStage,
} from '@temporalio/client';
import type { HeldLimits, LimitsChange } from '../../src';
import { SET_LIMITS_UPDATE, SOLVE_WORKFLOW } from '../../src/protocol/names';
import { endOf, refusalOf, solveAnd } from '../support/until';
import { step, useStage } from './stage';

const question = 'Where does the Danube rise?';
const TWO = [step('a', 'Find the sources.'), step('b', 'Weigh them.', [0])];
const remainingMs: unknown = expect.any(Number);
const LOW = { calls: 1, tokens: 1, costUsd: 0 };
const LIMITS = { steps: 4, depth: 2, calls: 20, tokens: null, costUsd: null };

const stage = useStage({
  config: { recursion: 'worker', limits: { ...LIMITS, wallClock: '5m' } },
});
beforeEach(() => {
  stage.providers.answer('a', 'Breg and Brigach');
});

function asked(): (string | null)[] {
  return stage.providers.log.map(({ model }) => model);
}

/** Sends a change and waits until the run has accepted it, which may be before it can answer. */
async function changeEarly(id: string, change: LimitsChange): Promise<WorkflowUpdateHandle<HeldLimits>> {
  const run = stage.temporal.client.workflow.getHandle(id);
  const waitForStage = WorkflowUpdateStage.ACCEPTED;
  return run.startUpdate<HeldLimits, [LimitsChange]>(SET_LIMITS_UPDATE, { args: [change], waitForStage });
}

describe('limits that are changed during a run', () => {
  test('do not fall below what is committed, and nothing more is started', async () => {
    stage.plan(TWO);
    const told: unknown[] = [];
    const result = await solveAnd(stage, 'a', async (id) => {
      const held = await stage.client.setLimits(id, LOW);
      // The plan's call, and up to five requests for the step.
      expect(held).toMatchObject({ steps: 4, depth: 2, calls: 6, wallClockMs: 300_000 });
      // Two requests may be billed, with 4096 tokens each.
      expect(held.tokens).toBeGreaterThan(2 * 4096);
      expect(held.costUsd).toBeGreaterThan(2 * 0.04096);
      expect(await stage.client.setLimits(id, {})).toEqual({ ...held, remainingMs });
      const { calls, tokens, costUsd } = held;
      told.push(expect.objectContaining({ limits: LOW, held: { calls, tokens, costUsd } }));
      expect((await stage.client.trace(id)).steered).toEqual(told);
    });
    expect(result).toMatchObject({ status: 'completed', answer: 'Breg and Brigach', stoppedBy: 'calls' });
    expect(result.steered).toEqual(told);
    expect(asked()).toEqual(['conductor', 'a']);
  });

  test('leave a running child what was reserved for it', async () => {
    stage.plan([step('conductor', 'Go deeper.'), step('b', 'Say it.', [0])]);
    stage.plan(TWO);
    const result = await solveAnd(stage, 'a', async (id) => {
      await stage.client.setLimits(id, { calls: 1 });
    });
    expect(result).toMatchObject({ status: 'completed', stoppedBy: 'calls' });
    expect(asked()).toEqual(['conductor', 'conductor', 'a', 'b']);
  });

  test('also bound the time', async () => {
    stage.plan(TWO);
    const result = await solveAnd(stage, 'a', async (id) => {
      expect(await stage.client.setLimits(id, { wallClockMs: 1 })).toMatchObject({ wallClockMs: 1 });
    });
    expect(result.steered).toMatchObject([{ kind: 'limits', limits: { wallClockMs: 1 } }]);
    expect(result.steered?.[0]).not.toHaveProperty('held');
    expect(result).toMatchObject({ status: 'completed', answer: 'Breg and Brigach', stoppedBy: 'wallClock' });
    expect(asked()).toEqual(['conductor', 'a']);
  });
});

describe('limits that are changed before the run knows its own', () => {
  test('apply as soon as it does', async () => {
    stage.plan(TWO);
    const workflowId = `early-${stage.taskQueue}`;
    const startWorkflowOperation = new WithStartWorkflowOperation(SOLVE_WORKFLOW, {
      workflowId,
      taskQueue: stage.taskQueue,
      args: [{ question }],
      workflowIdConflictPolicy: 'FAIL',
    });
    const result = await stage.whileWorking(async () => {
      const held = await stage.temporal.client.workflow.executeUpdateWithStart(SET_LIMITS_UPDATE, {
        args: [{ calls: 1 }],
        startWorkflowOperation,
      });
      expect(held).toMatchObject({ ...LIMITS, calls: 1 });
      return endOf(stage, workflowId);
    });
    expect(result).toMatchObject({ status: 'failed', stoppedBy: 'calls', error: { type: 'Limit.Calls' } });
    expect(asked()).toEqual(['conductor']);
  });

  test('apply to the next call of the Conductor', async () => {
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan(TWO);
    stage.plan([step('c', 'Answer it.')]);
    const result = await solveAnd(stage, 'conductor', async (id) => {
      await changeEarly(id, { steps: 1 });
    });
    expect(result.calls.map(({ worker, error }) => [worker, error?.type])).toEqual([
      ['conductor', 'Plan.Invalid'],
      ['conductor', 'Plan.Invalid'],
      ['conductor', undefined],
      ['c', undefined],
    ]);
  });

  test('are refused if the run ends without knowing any', async () => {
    const { id } = await stage.client.start({ question, pool: { allow: ['nobody'] } });
    const refusal = refusalOf(stage.client.setLimits(id, { calls: 1 }));
    const result = await stage.whileWorking(() => endOf(stage, id));
    expect(result).toMatchObject({ status: 'failed', error: { type: 'Configuration.Invalid' } });
    expect(await refusal).toContain('ended');
  });
});
