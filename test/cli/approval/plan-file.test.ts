import { readPlan, writePlanFile } from '../../../src/cli/kit/view/questions';
import { renderPlan } from '../../../src/plan/render';

const CONTEXT = { workers: ['alpha', 'beta', 'conductor'], maxSteps: 5, round: 0 };
const PLAN = {
  steps: [
    { worker: 'alpha', subtask: 'Find it:\n- all of it\n# really\n- model_id = [0]', sees: [] },
    { worker: 'conductor', subtask: 'Check it "twice"', sees: [0] },
  ],
};

test('a plan to be edited names the available workers, and counts steps from 1', () => {
  const text = writePlanFile(PLAN, CONTEXT);
  expect(text).toContain('# Workers: alpha, beta, conductor.');
  expect(text).toContain('counted from 1');
  expect(text).toMatch(/sees:\n\s+- 1\n/);
});

describe('a plan that a person wrote', () => {
  test.each([
    ['a file that was made to be edited', writePlanFile(PLAN, CONTEXT)],
    ['JSON, whose steps count from 0', JSON.stringify(PLAN)],
    ['the three lists', `I changed my mind.\n${renderPlan(PLAN, CONTEXT.workers)}`],
  ])('is read from %s', (_, text) => {
    expect(readPlan(text, 'plan.yaml', CONTEXT)).toEqual(PLAN);
  });

  test.each([
    ['steps: [', 'this is not valid YAML'],
    ['just words', 'A plan is { steps'],
    ['', 'A plan is { steps'],
    ['steps: *nowhere', 'Unresolved alias'],
    ['steps:\n  - { worker: alpha, subtask: Go }\n', 'step 1 needs a list of step numbers in "sees"'],
    ['steps:\n  - { worker: alpha, subtask: Go, sees: [0] }\n', 'counted from 1'],
    [
      'steps:\n  - worker: gamma\n    subtask: Go\n    sees: []\n',
      'no worker "gamma" in the pool. Choose one of',
    ],
    ['steps:\n  - worker: alpha\n    subtask: Go\n    sees: [1]\n', 'Step 1 cannot see step 1'],
    ['{"steps":[{"worker":"alpha","subtask":"Go","sees":[0]}]}', 'Step 0 cannot see step 0'],
    [
      'model_id = [7]\nsubtasks = ["Go"]\naccess_list = [[]]',
      /Write a number from 0 to 2\.[^]*\nWorkers: 0 alpha, 1 beta, 2 conductor\.$/,
    ],
  ])('is refused with the reason: %j', (text, expected) => {
    expect(() => readPlan(text, 'plan.yaml', CONTEXT)).toThrow(expected);
    expect(() => readPlan(text, 'plan.yaml', CONTEXT)).toThrow(/^plan\.yaml cannot be used as a plan\. /);
  });
});
