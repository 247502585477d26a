import { parsePlan } from '../../src/plan/parse';
import type { PlanExample } from '../../src/plan/plan';
import { conductorMessages, type ConductorPrompt } from '../../src/plan/prompt/conductor';
import { EXAMPLE_SETS, exampleReply } from '../../src/plan/prompt/example-plans';

const PROMPT: ConductorPrompt = {
  question: 'Why is the sky blue?',
  workers: [
    { id: 'gpt', notes: 'strong at\ncode' },
    { id: 'sonnet', notes: null },
  ],
  describe: 'notes',
  maxSteps: 5,
  repairs: [],
  format: 'lists',
  access: 'any',
};

function textOf(prompt: Partial<ConductorPrompt>): string {
  return conductorMessages({ ...PROMPT, ...prompt })
    .map(({ text }) => text)
    .join('\n');
}

const EXAMPLES = [...EXAMPLE_SETS['out-of-domain'], ...EXAMPLE_SETS['in-domain']];

describe.each([
  ['lists', 'any'],
  ['json', 'any'],
  ['lists', 'binary'],
  ['json', 'binary'],
] as const)('examples as %s, access %s', (format, access) => {
  const form = { format, access };

  test.each(EXAMPLES.map((example) => [example.question, example] as const))('%s', (_, example) => {
    const context = { workers: ['0', '1', '2'], maxSteps: 4, round: 0, access };
    const read = parsePlan(exampleReply(example, 3, form), context);
    const seesOf = (sees: readonly number[], index: number) =>
      sees.length > 0 ? [...Array(index).keys()] : [];
    const { steps } = example.plan;
    const expected = steps.map((step, index) => ({ ...step, sees: seesOf(step.sees, index) }));
    expect(read.steps).toEqual(access === 'any' ? steps : expected);
  });

  test('name no worker that a small pool lacks', () => {
    for (const example of EXAMPLES) {
      const read = parsePlan(exampleReply(example, 1, form), { workers: ['only'], maxSteps: 4, round: 0 });
      expect(read.steps).toHaveLength(example.plan.steps.length);
    }
  });
});

test('the example sets share the same plan graphs, of one to four steps', () => {
  const graphsOf = (examples: readonly PlanExample[]): unknown =>
    examples.map(({ plan }) => plan.steps.map(({ worker, sees }) => [worker, sees]));
  const { 'out-of-domain': everyday, mixed, none } = EXAMPLE_SETS;
  expect(everyday.map(({ plan }) => plan.steps.length)).toEqual([1, 2, 3, 4]);
  expect(graphsOf(EXAMPLE_SETS['in-domain'])).toEqual(graphsOf(everyday));
  expect(graphsOf(mixed)).toEqual(graphsOf(everyday));
  expect(none).toEqual([]);
});

test('the Conductor is shown the chosen examples, and the rest of its prompt stays the same', () => {
  const shown = (examples?: ConductorPrompt['examples']): number[] => {
    const text = textOf({ examples });
    return EXAMPLES.flatMap(({ question }, place) => (text.includes(question) ? [place] : []));
  };
  expect(shown()).toEqual([0, 1, 2, 3]);
  expect(shown('in-domain')).toEqual([4, 5, 6, 7]);
  expect(shown('mixed')).toEqual([0, 2, 5, 7]);
  expect(shown('none')).toEqual([]);
  expect(textOf({ examples: 'none' })).toBe(textOf({}).replace(/Example question[^]*?(?=The team)/, ''));
});

test('the question comes last, after what all questions share', () => {
  const messages = conductorMessages(PROMPT);
  expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(messages[0]?.text).toBe(conductorMessages({ ...PROMPT, question: 'Another?' })[0]?.text);
  expect(messages[1]?.text).toContain('Why is the sky blue?');
});

test('workers are described only as far as requested', () => {
  expect(textOf({})).toMatch(/^0: strong at code\n1$/m);
  expect(textOf({})).not.toMatch(/gpt|sonnet/);
  expect(textOf({ describe: 'names' })).toMatch(/^0: gpt\n1: sonnet$/m);
  expect(textOf({ describe: 'ordinals' })).toMatch(/^0\n1$/m);
  expect(textOf({ describe: 'ordinals' })).not.toMatch(/gpt|sonnet|strong at/);
});

test('the step limit is stated, and no example exceeds it', () => {
  expect(textOf({ maxSteps: 3 })).toContain('1 to 3 steps');
  expect(textOf({ maxSteps: 3 })).not.toContain('dinner');
  expect(textOf({ maxSteps: 1 })).toContain('exactly one step');
  expect(textOf({ maxSteps: 1 })).not.toContain('rhyme');
});

test('the Conductor is told of one format only', () => {
  expect(textOf({ format: 'json' })).not.toContain('access_list');
  expect(textOf({ format: 'lists' })).not.toContain('JSON');
});

test.each(['lists', 'json'] as const)(
  'as %s, step numbers are offered only if they are accepted',
  (format) => {
    const numbers = /numbers of earlier steps|those you name|\[0(, \d)*\]/;
    const shown = (access: ConductorPrompt['access']) =>
      textOf({ format, access, maxSteps: 4, examples: 'out-of-domain' }).replace(/model_id = .*/g, '');
    expect(shown('binary')).not.toMatch(numbers);
    expect(shown('any')).toMatch(numbers);
  },
);

test('a repair appends the failed reply and its problem, and changes nothing before them', () => {
  const repairs = [
    { reply: 'I think…', problem: 'The reply has no model_id.' },
    { reply: ' ', problem: 'The reply has no subtasks.' },
  ];
  const messages = conductorMessages({ ...PROMPT, repairs });
  expect(messages.slice(0, 2)).toEqual(conductorMessages(PROMPT));
  const turns = ['assistant', 'user', 'assistant', 'user'];
  expect(messages.slice(2).map(({ role }) => role)).toEqual(turns);
  expect(messages[2]?.text).toBe('I think…');
  expect(messages[3]?.text).toContain('The reply has no model_id.');
  expect(messages[4]?.text).toBe('(no text)');
});

test('only both ends of an overlong reply are shown', () => {
  const reply = `begin${'x'.repeat(100_000)}end`;
  const shown = conductorMessages({ ...PROMPT, repairs: [{ reply, problem: 'cut off' }] })[2]?.text ?? '';
  expect(shown.length).toBeLessThan(5000);
  expect(shown).toMatch(/^beginx+\n…\nx+end$/);
});

describe('the compact prompt', () => {
  const messagesOf = (change: Partial<ConductorPrompt> = {}) =>
    conductorMessages({ ...PROMPT, style: 'compact', describe: 'ordinals', ...change });

  test.each([
    ['ordinals', 'Model id 0\nModel id 1'],
    ['names', 'Model id 0: gpt\nModel id 1: sonnet'],
    ['notes', 'Model id 0: strong at code\nModel id 1'],
  ] as const)('contains only the question and the team, workers by %s', (describe, team) => {
    expect(messagesOf({ describe })).toEqual([
      { role: 'user', text: `${PROMPT.question}\nWorkers:\n${team}` },
    ]);
  });

  test("shows prices beside notes, in each worker's own unit, and never shows an unknown price as 0", () => {
    const workers = [
      { id: 'gpt', notes: 'strong at\ncode', price: { input: 2, output: 10 } },
      { id: 'sonnet', notes: null, price: null },
      { id: 'lookup', notes: 'knows the handbook' },
      { id: 'agent', notes: null, price: { perCall: 0.01 } },
      { id: 'small', notes: ' ', price: { input: 0, output: 0 } },
    ];
    expect(messagesOf({ workers, describe: 'notes+price' })[0]?.text.split('Workers:\n')[1]).toBe(
      [
        'Model id 0: strong at code; $2 in, $10 out per million tokens',
        'Model id 1: price unknown',
        'Model id 2: knows the handbook; price unknown',
        'Model id 3: $0.01 a call',
        'Model id 4: free',
      ].join('\n'),
    );
    expect(messagesOf({ workers, describe: 'notes' })[0]?.text).not.toContain('$');
  });

  test('lists the Conductor itself as the last ordinal if it may be called', () => {
    expect(messagesOf({ mayCallItself: true })[0]?.text).toMatch(/Model id 1\nModel id 2: yourself$/);
  });

  test('shows a review the earlier plan as written, then its answer', () => {
    const review = { plan: { steps: [{ worker: 'sonnet', subtask: 'Solve it.', sees: [] }] }, answer: '43' };
    expect(messagesOf({ review, hints: ['be quick'] }).slice(1)).toEqual([
      { role: 'assistant', text: 'model_id = [1]\nsubtasks = ["Solve it."]\naccess_list = [[]]' },
      { role: 'user', text: 'Answer: 43\nThe person who asked wants you to mind this:\n- be quick' },
    ]);
    expect(messagesOf({ review })[0]).toEqual(messagesOf()[0]);
  });

  test('includes what a serving run adds: background, hints and repairs', () => {
    const [asked, ...rest] = messagesOf({
      background: [{ subtask: 'Outline it.', output: 'add 17 and 26' }],
      hints: ['be quick'],
      repairs: [{ reply: 'oops', problem: 'The reply has no model_id.' }],
    });
    expect(asked?.text).toMatch(/blue\?\n[^]*add 17 and 26[^]*\nWorkers:[^]*- be quick$/);
    expect(rest.map(({ role }) => role)).toEqual(['assistant', 'user']);
    expect(rest[1]?.text).toContain('no model_id');
  });
});
