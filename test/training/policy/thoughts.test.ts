import { POLICY_FAILURES } from '../../../src/training/policy/errors';
import { thoughtsOf, withoutThoughts } from '../../../src/training/policy/thoughts';

const END = { end: 9, text: '</think>' };

test.each([
  ['ends its thoughts', 'Hm.</think>\n\nA plan.', [1, 9, 2, 3, 0], 'A plan.', 2],
  ['has empty thoughts, of which the prompt opened', '</think>A plan.', [9, 2, 3, 0], 'A plan.', 1],
  ['names the token in its plan', 'Hm.</think>Say </think>.', [1, 9, 2, 9, 3], 'Say </think>.', 2],
  ['is cut within its thoughts', '<think>A draft.', [8, 1, 2], '', 3],
  ['does not think at all', 'A plan.', [1, 2, 0], '', 3],
  ['spells the token out in others', 'A draft.</think>Hm.</think>', [1, 4, 5, 6, 2, 9], '', 6],
])('a reply that %s', (_, text, completionTokenIds, plan, thoughtTokens) => {
  const reply = { text, completionTokenIds };
  expect(withoutThoughts(reply, END)).toEqual({ completionTokenIds, text: plan, thoughtTokens });
});

test.each([['chatml'], [{ markers: [], ends: [2], system: true, thoughts: null }]] as const)(
  'a checkpoint of which nothing tells where its thoughts end is not asked: %j',
  (chat) => {
    const refusal = { code: POLICY_FAILURES.noManifest };
    expect(() => thoughtsOf(chat, 'nightly-000001')).toThrow(expect.objectContaining(refusal) as Error);
  },
);
