import { askVerdict, type Person } from '../../../src/cli/approval/verdict';

const CONTEXT = { workers: ['alpha', 'beta'], maxSteps: 5, round: 0 };
const PLAN = { steps: [{ worker: 'alpha', subtask: 'Go', sees: [] }] };

/** A person who gives these answers, and replaces words in what is to be edited. */
function personWho(answers: readonly (string | null)[], edits: readonly [string, string][] = []) {
  const [waiting, changes] = [[...answers], [...edits]];
  const told: string[] = [];
  const drafts: string[] = [];
  const person: Person = {
    ask: () => Promise.resolve(waiting.shift() ?? null),
    tell: (text) => told.push(text),
    edit: (text) => {
      drafts.push(text);
      const [from, to] = changes.shift() ?? ['', ''];
      return Promise.resolve(text.replace(from, to));
    },
  };
  return { person, told, drafts };
}

describe('a person who is asked about a plan', () => {
  test.each([
    ['a', { kind: 'approve' }],
    [' Approve', { kind: 'approve' }],
    ['l', { kind: 'leave' }],
    [null, { kind: 'leave' }],
  ])('answers %j', async (answer, verdict) => {
    expect(await askVerdict(personWho([answer]).person, PLAN, CONTEXT)).toEqual(verdict);
  });

  test('is asked again after an answer that is none', async () => {
    expect(await askVerdict(personWho(['', 'what?', 'a']).person, PLAN, CONTEXT)).toEqual({
      kind: 'approve',
    });
  });

  test('rejects with a reason, and not without', async () => {
    const { person } = personWho(['r', ' ', 'r', 'Ask beta.']);
    expect(await askVerdict(person, PLAN, CONTEXT)).toEqual({ kind: 'reject', reason: 'Ask beta.' });
  });

  test('edits until the plan is one, without losing what was written', async () => {
    const { person, told, drafts } = personWho(
      ['e', 'e', 'e'],
      [
        ['', ''],
        ['alpha\n', 'gamma\n'],
        ['gamma', 'beta'],
      ],
    );
    const verdict = await askVerdict(person, PLAN, CONTEXT);
    expect(verdict).toEqual({ kind: 'edit', plan: { steps: [{ worker: 'beta', subtask: 'Go', sees: [] }] } });
    expect(told).toEqual([expect.stringContaining('"gamma" is no worker')]);
    expect(drafts[2]).toContain('worker: gamma');
  });

  test('may go back from an editor that does not start', async () => {
    const { person, told } = personWho(['e', 'a']);
    const broken = { ...person, edit: () => Promise.reject(new Error('the editor "ed" ended with 127')) };
    expect(await askVerdict(broken, PLAN, CONTEXT)).toEqual({ kind: 'approve' });
    expect(told).toEqual(['the editor "ed" ended with 127']);
  });
});
