import { reasoningOf } from '../../src/plan/parse';
import { PlanError } from '../../src';

const LISTS = 'model_id = [0]\nsubtasks = ["Solve it."]\naccess_list = [[]]';
const STEPS = '"steps": [{"worker": 0, "subtask": "Solve it.", "sees": []}]';

test.each([
  [
    'before three lists',
    `Two models: first one\nsolves it.\n\n${LISTS}`,
    'Two models: first one\nsolves it.',
  ],
  ['with a block of thought', `<think>model_id = [9]</think>\nEasy steps.\n${LISTS}`, 'Easy steps.'],
  ['before a fence', `Easy.\n\`\`\`python\n${LISTS}\n\`\`\``, 'Easy.'],
  ['before bold labels', `Easy.\n**model_id**: [0]\n**subtasks**: ["Go."]\n**access_list**: [[]]`, 'Easy.'],
  ['in JSON', `{"reasoning": " It is \\"easy\\". ", ${STEPS}}`, 'It is "easy".'],
  ['before JSON', `Easy.\n{ ${STEPS} }`, 'Easy.'],
  ['none', LISTS, ''],
])('the reasoning of a reply %s', (_, reply, reasoning) => {
  expect(reasoningOf(reply)).toBe(reasoning);
});

test('a reply without a plan has no reasoning to show', () => {
  expect(() => reasoningOf('I would ask somebody.')).toThrow(PlanError);
});
