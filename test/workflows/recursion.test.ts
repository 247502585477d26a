import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import type { SimulatedRequest } from '../../src/testing';
import { ConductorClient, renderPlan } from '../../src';
import { unlessNotFound } from '../../src/client';
import { ledgerOf, spentBy } from '../support/ledger-of';
import { ACCEPT, openStage, step, type Stage } from './stage';
import { solveAnd, until } from '../support/until';

const QUESTION = 'Where does the Danube rise?';

let stage: Stage;
afterEach(() => stage.close());

async function open(recursion: 'worker' | 'review' | 'both', depth: number | null): Promise<void> {
  stage = await openStage({ config: { recursion, limits: { depth, calls: 12 } } });
}

/** Returns the prompt of the n-th request to a model, its messages joined. */
function promptTo(model: string, request = 0): string {
  const { body = '{}' } = stage.requestsTo(model)[request] ?? {};
  const { messages = [] } = JSON.parse(body) as { messages?: { content: string }[] };
  return messages.map(({ content }) => content).join('\n');
}

describe('a step that the Conductor gives to itself', () => {
  test('runs as its own solve: its subtask is the question, and what it may see is known to all', async () => {
    await open('worker', 1);
    stage.plan([
      step('a', 'Find the two sources.'),
      step('conductor', 'Weigh them.', [0]),
      step('b', 'Say it.', [1]),
    ]);
    stage.plan([step('c', 'Compare.')]);
    stage.providers.answer('a', 'Breg and Brigach');
    stage.providers.answer('c', 'the Breg');
    stage.providers.answer('b', 'At the Breg.');
    const result = await stage.solve({ question: QUESTION });
    const childId = `${result.id}-r0s2`;
    const whole = { status: 'completed', degraded: false, stoppedBy: null };
    expect(result).toMatchObject({ ...whole, answer: 'At the Breg.' });
    expect(result.rounds.map(({ round, depth, childId }) => [round, depth, childId])).toEqual([
      [0, 0, null],
      [0, 1, childId],
    ]);
    expect(result.rounds[0]?.steps[1]).toMatchObject({ worker: 'conductor', childId, output: 'the Breg' });
    expect(result.calls.map(({ worker, childId }) => [worker, childId])).toEqual([
      ['conductor', undefined],
      ['a', undefined],
      ['conductor', childId],
      ['c', childId],
      ['b', undefined],
    ]);
    const child = await stage.temporal.client.workflow.getHandle(childId).describe();
    expect(await child.staticSummary()).toBe('step 2 · Weigh them.');
    expect(promptTo('conductor')).toContain('3: yourself, called again');
    expect(promptTo('conductor', 1)).toContain('Write a plan for this question:\n\nWeigh them.');
    expect(promptTo('conductor', 1)).toContain('Breg and Brigach');
    expect(promptTo('conductor', 1)).not.toContain('yourself, called again');
    expect(promptTo('c')).toMatch(/Weigh them.*Breg and Brigach.*Compare/s);
  });

  test('waits for nothing if the server has deleted it by the time it is asked', async () => {
    await open('worker', 1);
    stage.plan([step('conductor', 'Go deeper.')]);
    stage.plan([step('a', 'Say it.')]);
    const { store, taskQueue, temporal } = stage;
    const { connection, workflow, workflowService } = temporal.client;
    const asked: string[] = [];
    await solveAnd(stage, 'a', async (id) => {
      const child = workflow.getHandle(`${id}-r0s1`);
      const execution = { workflowId: child.workflowId };
      const deleteFirst: WorkflowClientInterceptor = {
        describe: async (input, next) => {
          const { workflowId } = input.workflowExecution;
          asked.push(workflowId);
          if (workflowId === child.workflowId) {
            await workflowService.deleteWorkflowExecution({
              namespace: 'default',
              workflowExecution: execution,
            });
            await until(
              () => unlessNotFound(child.describe()),
              (found) => found === null,
            );
          }
          return next(input);
        },
      };
      const client = new Client({ connection, interceptors: { workflow: [deleteFirst] } });
      const conductor = new ConductorClient({ client, store, taskQueue });
      expect(await conductor.retries(id)).toEqual([]);
      expect(asked).toEqual([id, child.workflowId]);
    });
  });

  test('continues without a Conductor that has lost access by then, to keep what was paid for', async () => {
    await open('worker', 1);
    stage.plan([step('a', 'Find it.'), step('conductor', 'Weigh it.', [0])]);
    stage.providers.script('conductor', [{ fault: 'unauthorized' }]);
    stage.providers.script('a', ['Breg and Brigach', 'the Breg']);
    const result = await stage.solve({ question: QUESTION });
    expect(result).toMatchObject({ status: 'completed', answer: 'the Breg', degraded: true });
    expect(result.rounds[1]).toMatchObject({ depth: 1, error: { type: 'Provider.Authentication' } });
  });

  const always = ({ text }: SimulatedRequest): string =>
    text.includes('yourself, called again')
      ? renderPlan({ steps: [step('conductor', 'Go deeper.')] }, ['a', 'b', 'c', 'conductor'])
      : renderPlan({ steps: [step('a', 'Answer it.')] }, ['a', 'b', 'c']);

  test.each([0, 1, 2, 3])('ends at depth %i even if the Conductor always calls itself', async (depth) => {
    await open('worker', depth);
    stage.providers.answer('conductor', always);
    const { status, rounds } = await stage.solve({ question: QUESTION });
    expect(status).toBe('completed');
    expect(rounds.map((round) => round.depth)).toEqual([0, 1, 2, 3].slice(0, depth + 1));
    expect(new Set(rounds.map(({ childId }) => childId)).size).toBe(depth + 1);
  });

  test('ends by another limit if the depth is unlimited', async () => {
    await open('worker', null);
    stage.providers.answer('conductor', always);
    const { status, stoppedBy, usage } = await stage.solve({ question: QUESTION });
    expect([status, stoppedBy, usage.calls]).toEqual(['failed', 'calls', 12]);
    expect(stage.providers.log).toHaveLength(12);
  });
});

describe('a review', () => {
  /** Opens a run whose first plan, by worker a, is to be reviewed. */
  async function openReviewed(depth: number): Promise<void> {
    await open('review', depth);
    stage.plan([step('a', 'Answer it.')]);
    stage.providers.answer('a', 'In the Black Forest.');
  }

  test.each([
    [993, ['accepted', 'accepted']],
    [994, [null, 'failed']],
  ])(
    'of a run whose id has %i bytes is started only if its own id is not too long',
    async (length, decisions) => {
      await openReviewed(1);
      stage.providers.script('conductor', [ACCEPT]);
      const id = stage.taskQueue.padEnd(length, 'x');
      const result = await stage.solve({ question: QUESTION }, id);
      expect(result).toMatchObject({ status: 'completed', id });
      expect(result.rounds.map(({ decision }) => decision)).toEqual(decisions);
    },
  );

  test('that accepts keeps the answer, and is not reviewed itself', async () => {
    await openReviewed(2);
    stage.providers.script('conductor', [ACCEPT]);
    const result = await stage.solve({ question: QUESTION });
    expect(result).toMatchObject({ status: 'completed', answer: 'In the Black Forest.', degraded: false });
    expect(result.rounds).toMatchObject([
      { round: 0, depth: 0, decision: 'accepted' },
      { round: 1, depth: 1, childId: `${result.id}-review`, plan: { steps: [] }, decision: 'accepted' },
    ]);
    expect(result.calls.map(({ purpose }) => purpose)).toEqual(['plan', 'step', 'review']);
    expect(promptTo('conductor', 1)).toMatch(
      /carried this plan out.*In the Black Forest.*three empty lists/s,
    );
  });

  test('that corrects is reviewed in turn, down to the depth limit', async () => {
    await openReviewed(2);
    stage.plan([step('b', 'Check it.'), step('c', 'Correct it.', [0])]);
    stage.plan([step('a', 'Once more.')]);
    stage.providers.script('a', ['In Austria.', 'In Germany.']);
    stage.providers.answer('c', 'In the Black Forest.');
    const result = await stage.solve({ question: QUESTION });
    expect(result.answer).toBe('In Germany.');
    expect(result.rounds).toMatchObject([
      { round: 0, depth: 0, decision: 'revised', answer: 'In Austria.' },
      { round: 1, depth: 1, decision: 'revised', answer: 'In the Black Forest.' },
      { round: 2, depth: 2, decision: null, answer: 'In Germany.' },
    ]);
    expect(stage.requestsTo('conductor')).toHaveLength(3);
    expect(promptTo('b')).toMatch(/The answer so far.*In Austria/s);
  });

  test.each([
    ['is unreadable', 'I would leave it.', 'Plan.Invalid'],
    ['is refused', { fault: 'refusal' } as const, 'Provider.Refused'],
    ['is an error', { fault: 'unauthorized' } as const, 'Provider.Authentication'],
  ])('that %s keeps the earlier answer, and says why', async (_, reply, type) => {
    await openReviewed(1);
    stage.providers.answer('conductor', reply);
    const result = await stage.solve({ question: QUESTION });
    const kept = { status: 'completed', stoppedBy: null, degraded: true };
    expect(result).toMatchObject({ ...kept, answer: 'In the Black Forest.' });
    expect(result.rounds).toMatchObject([
      { round: 0, decision: null },
      { round: 1, plan: null, decision: 'failed', error: { type } },
    ]);
    expect(result.usage.calls).toBe(stage.providers.log.length);
  });

  test('whose correction fails keeps the earlier answer', async () => {
    await openReviewed(1);
    stage.plan([step('b', 'Draft it anew.'), step('c', 'Finish it.', [0])]);
    stage.providers.answer('c', { fault: 'unauthorized' });
    const { answer, rounds } = await stage.solve({ question: QUESTION });
    expect(answer).toBe('In the Black Forest.');
    expect(rounds.map(({ decision }) => decision)).toEqual([null, 'failed']);
  });

  test('that is killed keeps the earlier answer', async () => {
    await openReviewed(1);
    stage.plan([step('b', 'Check it.')]);
    const result = await solveAnd(stage, 'b', async (id) => {
      await stage.temporal.client.workflow.getHandle(`${id}-review`).terminate('by a test');
      await stage.temporal.client.workflow.getHandle(id).result();
    });
    expect(result).toMatchObject({ status: 'completed', answer: 'In the Black Forest.', degraded: true });
    expect(result.rounds[1]).toMatchObject({ childId: `${result.id}-review`, decision: 'failed' });
    expect(result.rounds[1]?.error?.message).toContain('terminated');
    const spent = spentBy(await ledgerOf(stage.store, result.id));
    expect(spentBy(result.calls).nanoUsd).toBe(spent.nanoUsd);
  });
});

describe('the end of a tree', () => {
  test.each(['cancel', 'terminate'] as const)(
    '%s of the root closes the calls of its children',
    async (how) => {
      const temporal = { heartbeat: '1s' };
      stage = await openStage({ config: { recursion: 'worker', limits: { depth: 2 }, temporal } });
      stage.plan([step('conductor', 'Go deeper.')]);
      stage.plan([step('conductor', 'And deeper.')]);
      stage.plan([step('a', 'Never done.')]);
      stage.providers.hold('a');
      await stage.whileWorking(async () => {
        const { id } = await stage.client.start({ question: QUESTION });
        const { sequence } = await stage.providers.waitForRequest(({ model }) => model === 'a');
        const root = stage.temporal.client.workflow.getHandle(id);
        await (how === 'cancel' ? root.cancel() : root.terminate('by a test'));
        await stage.providers.waitForClose(sequence);
        for (const child of [`${id}-r0s1`, `${id}-r0s1-r0s1`]) {
          const end = stage.temporal.client.workflow.getHandle(child).result();
          await expect(end).rejects.toThrow();
        }
        expect(stage.requestsTo('conductor')).toHaveLength(3);
        const { calls } = await stage.client.trace(id);
        expect(spentBy(calls).nanoUsd).toBe(spentBy(await ledgerOf(stage.store, id)).nanoUsd);
      });
    },
  );
});
