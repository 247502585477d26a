import { readPlan, writePlanFile } from '../../../src/cli/approval/plan-file';
import { renderPlan } from '../../../src/plan/render';

const CONTEXT = { workers: ['alpha', 'beta', 'conductor'], maxSteps: 5, round: 0 };
const PLAN = {
  steps: [
    { worker: 'alpha', subtask: 'Find it:\n- all of it\n# really', sees: [] },
    { worker: 'conductor', subtask: 'Check it "twice"', sees: [0] },
  ],
};

describe('a plan that a person wrote', () => {
  test.each([
    ['a file that was made to be edited', writePlanFile(PLAN, CONTEXT)],
    ['JSON', JSON.stringify(PLAN)],
    ['the three lists', `I changed my mind.\n${renderPlan(PLAN, CONTEXT.workers)}`],
  ])('is read from %s', (_, text) => {
    expect(readPlan(text, 'plan.yaml', CONTEXT)).toEqual(PLAN);
  });

  test.each([
    ['steps: [', 'neither YAML nor JSON'],
    ['just words', 'A plan is { steps'],
    ['', 'A plan is { steps'],
    ['steps:\n  - { worker: alpha, subtask: Go }\n', 'steps.0.sees is no list'],
    ['steps:\n  - worker: gamma\n    subtask: Go\n    sees: []\n', '"gamma" is no worker'],
    ['steps:\n  - worker: alpha\n    subtask: Go\n    sees: [1]\n', 'cannot see step 1'],
    ['model_id = [7]\nsubtasks = ["Go"]\naccess_list = [[]]', '"7" is no worker'],
  ])('is refused with what is wrong and which workers there are: %j', (text, expected) => {
    expect(() => readPlan(text, 'plan.yaml', CONTEXT)).toThrow(expected);
    expect(() => readPlan(text, 'plan.yaml', CONTEXT)).toThrow(
      /^plan\.yaml is no plan .*0 alpha, 1 beta, 2/s,
    );
  });

  test('is refused with a caret under the mistake', () => {
    const text =
      'steps:\n  - worker: alpha\n    subtask: Go\n    sees: []\n  - worker: gamma\n    subtask: Go\n    sees: []\n';
    expect(() => readPlan(text, 'plan.yaml', CONTEXT)).toThrow(/\n {4}- worker: gamma\n {14}\^/);
  });
});
