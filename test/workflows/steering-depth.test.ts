import { renderPlan, type SolveResult } from '../../src';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import type { ResolvedRun } from '../../src/protocol/cards';
import { MAX_MESSAGES } from '../../src/protocol/messages';
import type { SimulatedRequest } from '../../src/testing';
import { endOf, refusalOf, solveAnd, until, untilHeard } from '../support/until';
import { GateCodec, type Direction } from '../support/gate-codec';
import { ACCEPT, openStage, step, type Stage } from './stage';
import { loggedLines } from '../support/temporal';

const SELF = 'yourself, called again';
const WORKERS = ['a', 'b', 'c', 'conductor'];

let stage: Stage;
afterEach(() => stage.close());

async function open(recursion: ResolvedRun['recursion'], depth: number | null): Promise<void> {
  stage = await openStage({ config: { recursion, limits: { depth, calls: 12 } } });
}

/** Sets the depth of a run, and waits until its last descendant got the signal. */
async function setDepthDownTo(id: string, depth: number | null, descendant: string): Promise<void> {
  await stage.client.setMaxDepth(id, depth);
  await untilHeard(stage.temporal.client, descendant, 'setMaxDepth');
}

/** Returns the depth of each round of a run. */
function depthsOf({ rounds }: SolveResult): number[] {
  return rounds.map(({ depth }) => depth);
}

const STOOD_IN = { worker: 'a', fallbackFor: 'conductor', childId: null };

describe('a lower depth', () => {
  test('applies to a step of the plan that has not started: the first worker stands in', async () => {
    await open('worker', 1);
    stage.plan([step('b', 'Find the sources.'), step('conductor', 'Weigh them.', [0])]);
    stage.providers.answer('a', 'At the Breg.');
    const result = await solveAnd(stage, 'b', (id) => stage.client.setMaxDepth(id, 0));
    expect(result).toMatchObject({ status: 'completed', answer: 'At the Breg.' });
    expect(result.rounds).toHaveLength(1);
    expect(result.rounds[0]?.steps[1]).toMatchObject(STOOD_IN);
  });

  test('that is set before there is a plan applies to that plan', async () => {
    await open('worker', 1);
    stage.plan([step('conductor', 'Go deeper.')]);
    const { rounds } = await solveAnd(stage, 'conductor', (id) => stage.client.setMaxDepth(id, 0));
    expect(rounds[0]?.steps[0]).toMatchObject(STOOD_IN);
  });

  test('reaches the running descendant, while its ancestors wait', async () => {
    await open('worker', 5);
    stage.plan([step('conductor', 'Go deeper.')]);
    stage.plan([step('conductor', 'And deeper.')]);
    stage.plan([step('b', 'Find the sources.'), step('conductor', 'Weigh them.', [0])]);
    const result = await solveAnd(stage, 'b', (id) => setDepthDownTo(id, 1, `${id}-r0s1-r0s1`));
    expect(depthsOf(result)).toEqual([0, 1, 2]);
    expect(result.rounds[2]?.steps[1]).toMatchObject(STOOD_IN);
  });

  test('lets a running review finish, and starts no other', async () => {
    await open('review', 3);
    stage.plan([step('a', 'Answer it.')]);
    stage.plan([step('b', 'Correct it.')]);
    const { rounds, answer } = await solveAnd(stage, 'b', (id) => setDepthDownTo(id, 0, `${id}-review`));
    expect(rounds.map(({ depth, decision }) => [depth, decision])).toEqual([
      [0, 'revised'],
      [1, null],
    ]);
    expect(answer).toBe(rounds[1]?.answer);
  });
});

describe('a higher depth', () => {
  test('lets a running review be reviewed in turn', async () => {
    await open('review', 1);
    stage.plan([step('a', 'Answer it.')]);
    stage.plan([step('b', 'Correct it.')]);
    stage.providers.script('conductor', [ACCEPT]);
    const { rounds } = await solveAnd(stage, 'b', (id) => setDepthDownTo(id, 2, `${id}-review`));
    expect(rounds.map(({ depth, decision }) => [depth, decision])).toEqual([
      [0, 'revised'],
      [1, 'accepted'],
      [2, 'accepted'],
    ]);
  });

  test('that is set before there is a plan offers the Conductor itself in its next call', async () => {
    await open('worker', 0);
    stage.providers.script('conductor', ['no plan at all']);
    stage.plan([step('conductor', 'Go deeper.')]);
    stage.plan([step('b', 'Answer it.')]);
    const result = await solveAnd(stage, 'conductor', (id) => stage.client.setMaxDepth(id, 1));
    expect(depthsOf(result)).toEqual([0, 1]);
    const prompts = stage.requestsTo('conductor').map(({ body }) => body);
    expect(prompts.map((prompt) => prompt.includes(SELF))).toEqual([false, true, false]);
  });
});

/**
 * Moments at which the child's input is held: as it leaves the parent, before the child exists and can be signalled, or
 * as it enters the child's first task, after the parent has sent it what it knew.
 */
const MOMENTS: readonly (readonly [string, Direction])[] = [
  ['between the decision to start a child and its start', 'encode'],
  ["between a child's start and its first task", 'decode'],
];

describe.each(MOMENTS)('a depth that is set %s', (_, direction) => {
  /** Writes plans for a root, a child and, if depth allows it, a grandchild. */
  const deeper = ({ text }: SimulatedRequest): string => {
    if (text.includes('question:\n\nAnd deeper.'))
      return renderPlan({ steps: [step('b', 'Answer.')] }, WORKERS);
    const isChild = text.includes('question:\n\nGo deeper.');
    const plan = { steps: [step('conductor', isChild ? 'And deeper.' : 'Go deeper.')] };
    return text.includes(SELF) ? renderPlan(plan, WORKERS) : 'no plan at all';
  };

  test.each([
    ['is not lost when it is lower', 2, 1, [0, 1]],
    ['is not lost when it is higher', 1, 2, [0, 1, 2]],
  ])('%s', async (_name, before, after, depths) => {
    await open('worker', before);
    stage.providers.answer('conductor', deeper);
    const gate = new GateCodec(direction, ['"parent":', '"question":"Go deeper."']);
    await stage.whileWorking(
      async () => {
        const { id } = await stage.client.start({ question: 'Where does the Danube rise?' });
        await gate.waitUntilReached();
        const child = `${id}-r0s1`;
        const release = stage.providers.hold('conductor');
        await stage.client.setMaxDepth(id, after);
        gate.open();
        await untilHeard(stage.temporal.client, child, 'setMaxDepth');
        release();
        const result = await endOf(stage, id);
        expect(result.status).toBe('completed');
        expect(depthsOf(result)).toEqual(depths);
      },
      { dataConverter: { payloadCodecs: [gate] } },
    );
  });
});

test('an invalid depth is ignored, and the log says so', async () => {
  await open('worker', 1);
  stage.plan([step('b', 'Find the sources.'), step('conductor', 'Weigh them.', [0])]);
  stage.plan([step('c', 'Compare.')]);
  const result = await solveAnd(stage, 'b', async (id) => {
    const run = stage.temporal.client.workflow.getHandle(id);
    for (const depth of [-1, 0.5, 'none', undefined, {}, Number.MAX_VALUE]) {
      await run.signal('setMaxDepth', depth);
    }
  });
  expect(depthsOf(result)).toEqual([0, 1]);
  const complaints = loggedLines().filter((line) => line.includes('signal setMaxDepth ignored'));
  // One line, however many such signals come: a client could fill the disk of a worker.
  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toContain('a whole number from 0, or null for no limit');
});

test('a depth that only an operator may set reaches a running child, from an operator alone', async () => {
  await open('review', 1);
  stage.plan([step('a', 'Answer it.')]);
  stage.plan([step('b', 'Correct it.')]);
  stage.providers.script('conductor', [ACCEPT]);
  const { limits } = resolveRun(parseConfig(stage.config));
  const letGo = stage.providers.hold('b');
  const result = await stage.whileWorking(async () => {
    const { id } = await stage.client.start({
      question: 'Where does the Danube rise?',
      rights: { models: null, limits },
    });
    await stage.providers.waitForRequest(({ model }) => model === 'b');
    await stage.client.setMaxDepth(id, 3);
    await stage.client.setMaxDepth(`${id}-review`, 3);
    await stage.client.setMaxDepth(id, 2, { asOperator: true });
    await until(
      () => stage.client.limits(`${id}-review`),
      ({ depth }) => depth === 2,
    );
    letGo();
    return endOf(stage, id);
  });
  expect(depthsOf(result)).toEqual([0, 1, 2]);
  const complaints = loggedLines().filter((line) =>
    line.includes('depth is 3, and this key may set at most 1'),
  );
  expect(complaints.length).toBeGreaterThanOrEqual(2);
});

test(`a depth is heard ${MAX_MESSAGES} times: more of them cost a run nothing`, async () => {
  await open('worker', 1);
  stage.plan([step('b', 'Find the sources.'), step('conductor', 'Weigh them.', [0])]);
  stage.plan([step('c', 'Compare.')]);
  const result = await solveAnd(stage, 'b', async (id) => {
    const run = stage.temporal.client.workflow.getHandle(id);
    await Promise.all(Array.from({ length: MAX_MESSAGES }, () => run.signal('setMaxDepth', 1)));
    await run.signal('setMaxDepth', 0);
    // What comes during a workflow task enters the history after it.
    const refusal = await until(
      () => refusalOf(stage.client.setMaxDepth(id, 0)),
      (said) => said.startsWith('run '),
    );
    expect(refusal).toContain(`takes it ${MAX_MESSAGES} times at most`);
  });
  expect(depthsOf(result)).toEqual([0, 1]);
  const complaints = loggedLines().filter((line) => line.includes('of them a run'));
  expect(complaints).toHaveLength(1);
});
