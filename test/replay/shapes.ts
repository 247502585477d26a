import { join } from 'node:path';
import {
  type ConfigInput,
  type ConversationTurn,
  renderPlan,
  type SolveHandle,
  type SolveRequest,
} from '../../src';
import { estimatePlan } from '../../src/budget/estimate-plan';
import { workerPromptBytes } from '../../src/budget/prompt-bytes';
import type { WorstCase } from '../../src/budget/worst-case';
import { DECIDE_CALL_UPDATE } from '../../src/protocol/names';
import type { LimitsInput } from '../../src/protocol/input';
import { modelCard, runOf } from '../budget/cards';
import { waitingCalls } from '../../src/trace/waiting-calls';
import { ACCEPT, type Stage, step } from '../support/stage';
import { until } from '../support/until';

/** One way a run can go, from its plan to its end. */
export interface Shape {
  /** Options of the run besides its question. */
  readonly request?: Omit<SolveRequest, 'question' | 'messages'>;
  /** Turns before the question. */
  readonly turns?: readonly ConversationTurn[];
  /** Changes the configuration that all shapes share. */
  configure?(config: ConfigInput): ConfigInput;
  prepare(stage: Stage): void;
  /** Worker whose answers are held back until `letGo` is called. */
  readonly held?: string;
  /** Acts on the run after its start. */
  meanwhile?(stage: Stage, run: SolveHandle, letGo: () => void): Promise<void>;
  /** Suffix of the child whose history is recorded instead: its workflow id is the run's id with this suffix. */
  readonly child?: string;
}

/** Configures the pool of every shape: `c` is the fallback of `a`, and a cancellation arrives within a second. */
export function configureShapes(config: ConfigInput): ConfigInput {
  const workers = config.workers.map((worker) => ({ ...worker, fallback: worker.id === 'a' ? ['c'] : [] }));
  return { ...config, workers, temporal: { heartbeat: '1s' } };
}

const TWO_WAVES = [step('a', 'One side.'), step('b', 'The other side.'), step('c', 'Put together.', [0, 1])];

const RIGHTS = { ...runOf([]).limits, depth: 1, wallClockMs: 600_000, approvalMs: 600_000 };

/** A run that gives a step to the Conductor, and whose answer is reviewed. */
const RECURSIVE: Shape = {
  request: { limits: { depth: 1 } },
  prepare: (stage) => {
    stage.plan([step('a', 'Find it.'), step('conductor', 'Weigh it.', [0]), step('b', 'Say it.', [1])]);
    stage.plan([step('c', 'Weigh one side.')]);
    stage.providers.script('conductor', [ACCEPT]);
  },
};

/** A run whose review corrects the answer, and whose next review accepts the correction. */
const REVISED: Shape = {
  request: { limits: { depth: 2 } },
  prepare: (stage) => {
    stage.plan([step('a', 'Answer it.')]);
    stage.plan([step('b', 'Check it.'), step('c', 'Correct it.', [0])]);
    stage.providers.script('conductor', [ACCEPT]);
  },
};

/** A conversation whose answer must fit a schema, is repaired, and reviewed. */
const STRUCTURED: Shape = {
  request: { limits: { depth: 1 }, answerSchema: { type: 'integer' } },
  turns: [
    { role: 'user', content: 'I count legs.' },
    { role: 'assistant', content: 'A fine pastime.' },
  ],
  prepare: (stage) => {
    stage.plan([step('a', 'Find it.'), step('b', 'Say it.', [0])]);
    stage.providers.script('b', ['eight', '8']);
    stage.providers.script('conductor', [ACCEPT]);
  },
};

/** Usage of each call of a run that ends at a limit. */
const USAGE = { inputTokens: 1000, outputTokens: 500 };
const FOUND = 'It was found.';

/**
 * A run of two steps whose last step, or whose plan, fits its limit exactly or exceeds it by one token or nano-USD. If
 * worst cases were calculated differently, in either direction, one of these runs would make other calls.
 */
function atTheLimit(name: string, limitsOf: (needed: WorstCase) => LimitsInput): Shape {
  const steps = [step('a', 'Find it.'), step('b', 'Say it.', [0])];
  const workers = ['a', 'b'].map((id) => ({
    ...modelCard(id, { input: 2, output: 10 }),
    maxOutputTokens: 4096,
  }));
  const run = runOf(workers);
  const worker = modelCard('b');
  const sees = [{ step: 0, worker: 'a', subtask: 'Find it.', output: FOUND }];
  const question = questionOf(name);
  const bytes = workerPromptBytes({ question, subtask: 'Say it.', sees, worker });
  const { nanoUsd } = estimatePlan({ steps }, run, { question });
  // The last step comes after two calls; the whole plan is checked against a limit on cost after the first.
  const tokens = 2 * (1000 + 500) + bytes + 256 + 4096;
  const limits = limitsOf({ tokens, nanoUsd: 1000 * 2000 + 500 * 10_000 + (nanoUsd ?? 0) });
  return {
    request: { limits },
    prepare: ({ providers }) => {
      providers.script('conductor', [{ text: renderPlan({ steps }, ['a', 'b']), usage: USAGE }]);
      providers.script('a', [{ text: FOUND, usage: USAGE }]);
    },
  };
}

/** A run whose model asks for functions of the caller: two at once, then one with a long result. */
const ASKS_CALLER: Shape = {
  request: { live: true, tools: [{ name: 'look', parameters: { type: 'object' } }] },
  prepare: (stage) => {
    stage.plan([step('a', 'Look.'), step('b', 'Say it.', [0])]);
    const look = { name: 'look', input: {} };
    stage.providers.script('a', [
      { text: 'Let me look.', calls: [look, look] },
      { text: '', calls: [look] },
    ]);
  },
  meanwhile: async ({ client }, { id }) => {
    let isFirst = true;
    for await (const event of client.stream(id)) {
      if (event.kind !== 'callsWaiting') continue;
      const [one, ...others] = event.calls.map(({ id: call }) => ({ call, output: 'a spider' }));
      if (one === undefined) continue;
      if (isFirst) await client.submit([...others, { ...one, isError: true }]);
      else await client.submit([{ ...one, output: 'word '.repeat(1000) }]);
      isFirst = false;
    }
  },
};

/** Tools with a price, of which one may not be repeated and waits for a person, who changes its arguments. */
const USES_TOOLS: Shape = {
  configure: (config) => ({
    ...config,
    workers: config.workers.map((worker) => (worker.id === 'a' ? { ...worker, tools: ['shelf'] } : worker)),
    tools: {
      shelf: {
        mcp: { command: [process.execPath, join(__dirname, '../support/tools-server.cjs')] },
        allow: ['look_up', 'order'],
        repeatable: ['look_up'],
        approve: ['order'],
        price: { perCall: 0.01 },
      },
    },
  }),
  prepare: (stage) => {
    stage.plan([step('a', 'Order some.'), step('b', 'Say it.', [0])]);
    const calls = ['tea', 'coffee'].map((word) => ({ name: 'shelf__look_up', input: { word } }));
    stage.providers.script('a', [
      { text: 'Let me look.', calls },
      { text: '', calls: [{ name: 'shelf__order', input: { item: 'coffee' } }] },
    ]);
  },
  meanwhile: async ({ client, temporal }, { id }) => {
    const [asked] = await until(
      async () => waitingCalls(await client.trace(id)),
      ({ length }) => length === 1,
    );
    const decision = { call: asked?.id ?? '', approve: true, arguments: { item: 'tea' } };
    const run = temporal.client.workflow.getHandle(id);
    await run.executeUpdate(DECIDE_CALL_UPDATE, { args: [decision, { name: 'ada' }] });
  },
};

/** A person changes the arguments of two calls by another client than ours, and of one so that they do not fit. */
const CHANGES_ARGUMENTS: Shape = {
  ...USES_TOOLS,
  prepare: (stage) => {
    stage.plan([step('a', 'Order some.'), step('b', 'Say it.', [0])]);
    const calls = ['tea', 'coffee'].map((item) => ({ name: 'shelf__order', input: { item } }));
    stage.providers.script('a', [{ text: '', calls }]);
  },
  meanwhile: async ({ client, temporal }, { id }) => {
    const asked = await until(
      async () => waitingCalls(await client.trace(id)),
      ({ length }) => length === 2,
    );
    const run = temporal.client.workflow.getHandle(id);
    for (const [index, item] of ['a pot', 7].entries()) {
      const decision = { call: asked[index]?.id, approve: true, arguments: { item } };
      await run.executeUpdate(DECIDE_CALL_UPDATE, { args: [decision] });
    }
  },
};

/** Workflows of the user's, as a tool and as a worker, which nobody runs. */
const ASKS_WORKFLOWS: Shape = {
  configure: (config) => ({
    ...config,
    workers: [
      ...config.workers.map((worker) => (worker.id === 'a' ? { ...worker, tools: ['room'] } : worker)),
      { id: 'agent', provider: 'workflow', type: 'research', taskQueue: 'nobody', timeout: '1s' },
    ] as ConfigInput['workers'],
    tools: {
      room: {
        workflow: { type: 'bookRoom', taskQueue: 'nobody' },
        description: 'Books a room.',
        input: { type: 'object' },
        timeout: '1s',
      },
    },
  }),
  prepare: ({ providers }) => {
    const steps = [step('a', 'Book some.'), step('agent', 'Look it up.', [0]), step('b', 'Say it.', [0, 1])];
    providers.script('conductor', [renderPlan({ steps }, ['a', 'b', 'c', 'agent'])]);
    const room = { name: 'room', input: {} };
    providers.script('a', [{ text: 'Let me see.', calls: [room, room] }]);
  },
};

/** Returns the question of a shape: the same text, and so the same length, each time. */
export function questionOf(name: string): string {
  return `How does a run go that is ${name}?`;
}

/** Shapes recorded in `histories/`, by file name. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  structured: STRUCTURED,
  // Recorded while ids were drawn from the numbers that interceptors draw from, too.
  'asks-its-caller': ASKS_CALLER,
  'asks-workflows': ASKS_WORKFLOWS,
  'asks-its-caller-apart': ASKS_CALLER,
  'asks-workflows-apart': {
    ...ASKS_WORKFLOWS,
    meanwhile: async ({ temporal }, { id }) => {
      const { workflow } = temporal.client;
      const [child] = await until(
        async () => (await workflow.getHandle(id).describe()).raw.pendingChildren ?? [],
        ({ length }) => length === 1,
      );
      await workflow.getHandle(child?.workflowId ?? '').terminate();
    },
  },
  'uses-tools': USES_TOOLS,
  'changes-arguments': CHANGES_ARGUMENTS,
  'structured-review': { ...STRUCTURED, child: '-review' },
  'cut-short': {
    request: { limits: { depth: 1 }, maxAnswerTokens: 20 },
    prepare: (stage) => {
      stage.plan([step('a', 'Find it.'), step('conductor', 'Say it.', [0])]);
      stage.plan([step('b', 'Say it briefly.')]);
      stage.providers.script('b', [{ text: 'It is said in', finish: 'length' }]);
      stage.providers.script('conductor', [ACCEPT]);
    },
  },
  answered: {
    prepare: (stage) => {
      stage.plan(TWO_WAVES);
    },
  },
  'answered-at-length': {
    prepare: (stage) => {
      stage.plan([step('a', 'Say a lot.'), step('b', 'Say it again.', [0])]);
      stage.providers.answer('a', 'word '.repeat(1000));
      stage.providers.answer('b', 'Word '.repeat(1000));
    },
  },
  repaired: {
    prepare: (stage) => {
      stage.providers.script('conductor', ['I would ask somebody.']);
      stage.plan([step('a', 'Answer it.')]);
    },
  },
  'without-a-plan': {
    prepare: (stage) => {
      stage.providers.answer('conductor', 'I would ask somebody.');
    },
  },
  degraded: {
    prepare: (stage) => {
      stage.plan(TWO_WAVES);
      stage.providers.answer('a', { fault: 'refusal' });
      stage.providers.script('b', [{ fault: 'truncated' }, { fault: 'length' }]);
      stage.providers.script('c', ['in place of a']);
    },
  },
  failed: {
    prepare: (stage) => {
      stage.plan([step('a', 'Answer it.'), step('b', 'Check it.', [0])]);
      for (const worker of ['a', 'b', 'c']) stage.providers.answer(worker, { fault: 'unauthorized' });
    },
  },
  cancelled: {
    prepare: (stage) => {
      stage.plan([step('a', 'Answer it.'), step('b', 'Never end.')]);
      stage.providers.hold('b');
    },
    meanwhile: async (stage, { id }) => {
      await stage.providers.waitForRequest(({ model }) => model === 'b');
      await stage.client.cancel(id);
    },
  },
  recursive: RECURSIVE,
  'recursive-step': { ...RECURSIVE, child: '-r0s2' },
  revised: REVISED,
  'revised-review': { ...REVISED, child: '-review' },
  'review-unreadable': {
    request: { limits: { depth: 1 } },
    prepare: (stage) => {
      stage.plan([step('a', 'Answer it.')]);
      stage.providers.answer('conductor', 'I would leave it.');
    },
  },
  steered: {
    request: { limits: { depth: 1 } },
    prepare: (stage) => {
      stage.plan([step('conductor', 'Go deeper.'), step('b', 'Say it.', [0])]);
      stage.plan([step('a', 'Think.')]);
      stage.providers.script('conductor', [ACCEPT]);
    },
    held: 'a',
    meanwhile: async (stage, { id }, letGo) => {
      await stage.providers.waitForRequest(({ model }) => model === 'a');
      await stage.client.setMaxDepth(id, 2);
      await stage.client.addHint(id, 'Mind the date.');
      await stage.client.setLimits(id, { calls: 20 });
      await stage.client.setMaxDepth(id, 1);
      letGo();
    },
  },
  'steered-within-rights': {
    request: { limits: { depth: 1 }, rights: { models: null, limits: RIGHTS } },
    prepare: (stage) => {
      stage.plan([step('conductor', 'Go deeper.'), step('b', 'Say it.', [0])]);
      stage.plan([step('a', 'Think.')]);
      stage.providers.script('conductor', [ACCEPT, ACCEPT]);
    },
    held: 'a',
    meanwhile: async (stage, { id }, letGo) => {
      await stage.providers.waitForRequest(({ model }) => model === 'a');
      await stage.client.setMaxDepth(id, 3);
      await stage.client.setMaxDepth(id, 2, { asOperator: true });
      await stage.client.setLimits(id, { calls: 20 });
      letGo();
    },
  },
  'stopped-by-calls': {
    request: { limits: { calls: 3 } },
    prepare: (stage) => {
      stage.plan(TWO_WAVES);
    },
  },
  'fits-to-the-call': {
    request: { limits: { calls: 4 } },
    prepare: (stage) => {
      stage.plan(TWO_WAVES);
    },
  },
  'fits-to-the-token': atTheLimit('fits-to-the-token', ({ tokens }) => ({ tokens })),
  'stopped-by-a-token': atTheLimit('stopped-by-a-token', ({ tokens }) => ({ tokens: tokens - 1 })),
  'fits-to-the-nano-usd': atTheLimit('fits-to-the-nano-usd', ({ nanoUsd }) => ({
    costUsd: (nanoUsd ?? 0) / 1e9,
  })),
  'stopped-by-a-nano-usd': atTheLimit('stopped-by-a-nano-usd', ({ nanoUsd }) => ({
    costUsd: ((nanoUsd ?? 0) - 1) / 1e9,
  })),
  approved: {
    request: { approval: 'plan' },
    prepare: (stage) => {
      stage.plan([step('a', 'Guess.')]);
      stage.plan([step('a', 'Look it up.'), step('b', 'Say it.', [0])]);
    },
    meanwhile: async (stage, { id }) => {
      await untilItWaits(stage, id, 'Guess.');
      await stage.client.rejectPlan(id, 'Nobody shall guess.');
      await untilItWaits(stage, id, 'Look it up.');
      await stage.client.editPlan(id, { steps: [step('b', 'Look it up twice.')] });
    },
  },
  'approved-by-nobody': {
    request: { approval: 'plan', limits: { approval: '1s' } },
    prepare: (stage) => {
      stage.plan([step('a', 'Answer it.')]);
    },
  },
  given: {
    request: {
      given: { plan: { steps: TWO_WAVES }, outputs: ['what was found before', null, null] },
    },
    prepare: () => undefined,
  },
};

async function untilItWaits(stage: Stage, id: string, subtask: string): Promise<void> {
  for await (const { waitsFor, rounds } of stage.client.watch(id)) {
    if (waitsFor === 'approval' && rounds[0]?.plan?.steps[0]?.subtask === subtask) return;
  }
}
