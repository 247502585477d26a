import { type ConfigInput, type LiveEvent, renderPlan, type Step } from '../../src';
import { CALL_WORKER } from '../../src/protocol/names';
import type { Answer } from '../../src/testing';
import { stateQuery } from '../../src/workflows';
import { solveAnd } from '../support/until';
import { ledgerOf, spentBy } from '../support/ledger-of';
import { openStage, type Stage, STAGE_KEY, step } from './stage';

const question = 'Where does the Danube rise?';
const ALL = ['a', 'b', 'c', 'conductor'];

let stage: Stage;
afterEach(() => stage.close());

type Limits = NonNullable<ConfigInput['limits']>;

/** Opens a stage whose workers may write 1000 tokens; with the prompt, a call reserves about 2000, or 0.012 USD. */
async function open(limits: Limits, recursion: ConfigInput['recursion'] = 'never'): Promise<void> {
  stage = await openStage({ config: { recursion, limits }, worker: { maxOutputTokens: 1000 } });
}

/** Makes the Conductor write a plan that costs 3100 tokens, or 0.007 USD. */
function plan(...steps: readonly Step[]): void {
  const usage = { inputTokens: 3000, outputTokens: 100 };
  stage.providers.script('conductor', [{ text: renderPlan({ steps }, ALL), usage }]);
}

/** An answer that costs 1900 tokens, or 0.0118 USD: nearly its whole reservation. */
const LONG: Answer = { text: 'A long answer.', usage: { inputTokens: 900, outputTokens: 1000 } };
/** An answer that costs 910 tokens, or 0.0019 USD: well below its reservation. */
const SHORT: Answer = { text: 'A short answer.', usage: { inputTokens: 900, outputTokens: 10 } };

/** Returns how many worker calls a run has scheduled, sent or not. */
async function callsBegun(id: string): Promise<number> {
  const { events } = await stage.temporal.client.workflow.getHandle(id).fetchHistory();
  const types = (events ?? []).map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
  return types.filter((type) => type === CALL_WORKER).length;
}

describe('a spending limit ends the run with the best answer, and is never exceeded', () => {
  const THREE = [step('a', 'One.'), step('b', 'Two.'), step('c', 'Three.')];

  test.each([
    ['calls', { calls: 3 }, { calls: 3 }, 2],
    ['tokens', { tokens: 6600 }, { tokens: 5000 }, 1],
    ['cost', { costUsd: 0.024 }, { nanoUsd: 18_800_000 }, 1],
  ])('for %s', async (stoppedBy, limits, spent, answered) => {
    await open(limits);
    plan(...THREE);
    for (const { worker } of THREE) stage.providers.answer(worker, LONG);
    const result = await stage.solve({ question });
    expect(result).toMatchObject({ status: 'completed', answer: 'A long answer.', stoppedBy });
    const errors = result.rounds[0]?.steps.map(({ error }) => error?.type ?? null);
    expect(errors?.filter((type) => type === null)).toHaveLength(answered);
    expect(stage.providers.log).toHaveLength(1 + answered);
    const ledger = spentBy(await ledgerOf(stage.store, result.id));
    expect(ledger).toMatchObject(spent);
    expect(ledger).toEqual(spentBy(result.calls));
  });
});

test('ten concurrent steps near the limit wait for each other: none exceeds it, and none is refused', async () => {
  await open({ steps: 10, costUsd: 0.045 });
  plan(...Array.from({ length: 10 }, (_, index) => step('a', `Part ${index}.`)));
  stage.providers.answer('a', SHORT);
  const result = await solveAnd(stage, 'a', async (id) => {
    // 0.038 USD is left. The first call reserves its worst case twice, in case a request is lost, the second once.
    expect(await callsBegun(id)).toBe(2);
  });
  expect(result).toMatchObject({ stoppedBy: null, degraded: false });
  expect(stage.requestsTo('a')).toHaveLength(10);
});

test('a step that waits for room starts when the limit is raised', async () => {
  await open({ costUsd: 0.024 });
  plan(step('a', 'One.'), step('b', 'Two.'));
  const result = await solveAnd(stage, 'a', async (id) => {
    expect(await callsBegun(id)).toBe(1);
    expect(await waitIn(id)).toMatchObject({ for: 'limit', childId: null });
    expect(await stage.client.setLimits(id, { costUsd: 0.5 })).toMatchObject({ costUsd: 0.5 });
    await stage.providers.waitForRequest(({ model }) => model === 'b');
    const { waitsFor } = await stage.temporal.client.workflow.getHandle(id).query(stateQuery);
    expect(waitsFor).toBeUndefined();
    expect(stage.requestsTo('a')[0]?.outcome).toBeNull();
  });
  expect(result).toMatchObject({ stoppedBy: null, degraded: false });
});

/** Returns the first `waiting` event of a run's stream, or null if there is none. */
async function waitIn(id: string): Promise<LiveEvent | null> {
  for await (const event of stage.client.stream(id)) if (event.kind === 'waiting') return event;
  return null;
}

test('a request that costs nothing still counts as a call', async () => {
  await open({ calls: 3 });
  plan(step('a', 'Answer it.'), step('b', 'Check it.', [0]));
  const retryAfter = { ms: 1, as: 'milliseconds' } as const;
  stage.providers.script('a', [{ fault: 'rate-limited', retryAfter }, 'In the Black Forest.']);
  const result = await stage.solve({ question });
  expect(result).toMatchObject({ answer: 'In the Black Forest.', stoppedBy: 'calls' });
  expect(result.calls.map(({ nanoUsd, worker }) => [worker, nanoUsd === 0])).toEqual([
    ['conductor', false],
    ['a', true],
    ['a', false],
  ]);
});

describe('before anything is spent', () => {
  const REFUSED = { status: 'failed', stoppedBy: 'cost', error: { type: 'Limit.Cost' } };

  test('a run whose first call does not fit fails, and nothing is sent', async () => {
    await open({ costUsd: 0.001 });
    const result = await stage.solve({ question });
    expect(result).toMatchObject({ ...REFUSED, usage: { calls: 0 } });
    expect(stage.providers.log).toEqual([]);
    expect(await ledgerOf(stage.store, result.id)).toEqual([]);
  });

  test('a plan that may exceed the cost limit given for this run is not started', async () => {
    await open({});
    plan(step('a', 'One.'), step('b', 'Two.'));
    const result = await stage.solve({ question, limits: { costUsd: 0.025 } });
    expect(result).toMatchObject(REFUSED);
    expect(result.error?.message).toContain('the plan may cost up to');
    expect(result.estimate?.nanoUsd).toBeGreaterThan(18_000_000);
    expect(stage.providers.log).toHaveLength(1);
  });
});

describe('a call that may have been billed', () => {
  const CUT: Answer = { fault: 'cut-mid-body' };

  test('is repeated once if that fits the limit', async () => {
    await open({ costUsd: 0.035 });
    plan(step('a', 'Answer it.'));
    stage.providers.script('a', [CUT, 'In the Black Forest.']);
    const result = await stage.solve({ question });
    expect(result).toMatchObject({ answer: 'In the Black Forest.', stoppedBy: null, costIsLowerBound: true });
    expect(stage.requestsTo('a')).toHaveLength(2);
  });

  test('counts at its worst case forever: what does not fit beside it is not sent', async () => {
    await open({ costUsd: 0.024 });
    plan(step('b', 'Draft it.'), step('a', 'Answer it.', [0]));
    stage.providers.answer('b', { text: 'A draft.', usage: { inputTokens: 1, outputTokens: 1 } });
    stage.providers.script('a', [CUT, 'In the Black Forest.']);
    const result = await stage.solve({ question });
    expect(result).toMatchObject({ answer: 'A draft.', stoppedBy: 'cost', costIsLowerBound: true });
    expect(stage.requestsTo('a')).toHaveLength(1);
    expect(result.spentAtMost?.nanoUsd).toBeGreaterThan(18_000_000);
    expect(result.spentAtMost?.nanoUsd).toBeLessThanOrEqual(24_000_000);
  });
});

describe('if a price is unknown', () => {
  /** Opens a stage whose models have no price. */
  async function openUnpriced(limits: Limits): Promise<void> {
    stage = await openStage({
      configure: (config, url) => {
        const place = { provider: 'openai', baseUrl: `${url}/v1`, apiKeyEnv: STAGE_KEY } as const;
        const model = (name: string) => ({ ...place, model: name });
        const workers = ['a', 'b', 'c'].map((id) => ({ id, ...model(id) }));
        return { ...config, conductor: model('conductor'), workers, limits };
      },
    });
    plan(step('a', 'One.'), step('b', 'Two.', [0]));
  }

  test('a cost limit is not enforced', async () => {
    await openUnpriced({ costUsd: 0.000001 });
    const result = await stage.solve({ question });
    const unknown = { costIsLowerBound: true, costUsd: 0 };
    expect(result).toMatchObject({ status: 'completed', stoppedBy: null, ...unknown });
  });

  test.each([
    ['calls', { calls: 2 }],
    ['tokens', { tokens: 9000 }],
  ])('limits of %s are enforced', async (stoppedBy, limits) => {
    await openUnpriced(limits);
    stage.providers.answer('a', { text: 'A draft.', usage: { inputTokens: 900, outputTokens: 4000 } });
    const result = await stage.solve({ question });
    expect(result).toMatchObject({ status: 'completed', answer: 'A draft.', stoppedBy });
    expect(stage.requestsTo('b')).toHaveLength(0);
  });
});

test('a later step can use what a child did not spend of its share', async () => {
  await open({ calls: 7, depth: 1 }, 'worker');
  plan(step('conductor', 'Go deeper.'), step('b', 'Say it.', [0]));
  plan(step('a', 'Compare.'));
  // Six calls are left. The child reserves three and needs two, which leaves four for the last step.
  const limited: Answer = { fault: 'rate-limited', retryAfter: { ms: 1, as: 'milliseconds' } };
  stage.providers.script('b', [limited, limited, limited, 'At the Breg.']);
  const result = await stage.solve({ question });
  expect(result).toMatchObject({ answer: 'At the Breg.', stoppedBy: null, usage: { calls: 7 } });
});

describe('a run whose time is used up', () => {
  beforeEach(async () => {
    stage = await openStage({ config: { temporal: { heartbeat: '3s' } } });
  });

  test('ends with the best answer so far, closes open calls, and says what stopped it', async () => {
    stage.plan([step('a', 'Quick.'), step('b', 'Never done.')]);
    stage.providers.answer('a', 'the best there is');
    stage.providers.hold('b');
    await stage.whileWorking(async () => {
      const result = await stage.client.solve({ question, limits: { wallClock: '8s' } });
      const end = { stoppedBy: 'wallClock', degraded: true, costIsLowerBound: true };
      expect(result).toMatchObject({ status: 'completed', answer: 'the best there is', ...end });
      expect(result.rounds[0]?.steps[1]?.error?.type).toBe('Limit.WallClock');
      await stage.providers.waitForClose(stage.requestsTo('b')[0]?.sequence ?? 0);
    });
  });

  test('fails if the Conductor used all of it', async () => {
    stage.providers.hold('conductor');
    const result = await stage.solve({ question, limits: { wallClock: '5s' } });
    expect(result).toMatchObject({ status: 'failed', stoppedBy: 'wallClock', answer: null });
    expect(stage.providers.log).toHaveLength(1);
  });
});
