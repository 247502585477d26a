import { askVerdict, type Decider, type Person } from '../../../src/cli/approval/verdict';
import { RefusedError } from '../../../src/client/steer';

const CONTEXT = { workers: ['alpha', 'beta'], maxSteps: 5, round: 0 };
const PLAN = { steps: [{ worker: 'alpha', subtask: 'Go', sees: [] }] };
const edited = (worker: string) => ({ steps: [{ worker, subtask: 'Go', sees: [] }] });

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

/** A run that notes what it is told, and refuses as often as there are errors. */
function runThat(...refusals: Error[]) {
  const sent: unknown[] = [];
  const take = (...message: unknown[]): Promise<void> => {
    const refusal = refusals.shift();
    if (refusal !== undefined) return Promise.reject(refusal);
    sent.push(message);
    return Promise.resolve();
  };
  const decider: Decider = {
    planContext: () => Promise.resolve(CONTEXT),
    approvePlan: (id, plan) => take('approve', id, plan),
    editPlan: async (id, plan) => {
      await take('edit', id, plan);
      return plan;
    },
    rejectPlan: (id, reason) => take('reject', id, reason),
  };
  return { decider, sent };
}

describe('a person who is asked about a plan', () => {
  test.each([
    [['a'], 'decided', [['approve', 'run', PLAN]]],
    [[' Approve'], 'decided', [['approve', 'run', PLAN]]],
    [['l'], 'later', []],
    [[null], 'later', []],
    [['', 'what?', 'a'], 'decided', [['approve', 'run', PLAN]]],
    [['r', ' ', 'r', 'Ask beta.'], 'decided', [['reject', 'run', 'Ask beta.']]],
    [['r', null], 'later', []],
  ])('answers %j', async (answers, verdict, expected) => {
    const { decider, sent } = runThat();
    expect(await askVerdict(personWho(answers).person, 'run', PLAN, decider)).toBe(verdict);
    expect(sent).toEqual(expected);
  });

  test('edits until there is a plan that the run takes, and loses nothing that was written', async () => {
    const { decider, sent } = runThat(new RefusedError('gamma was lost meanwhile'));
    const { person, told, drafts } = personWho(
      ['e', 'e', 'e', 'e'],
      [
        ['', ''],
        ['alpha\n', 'delta\n'],
        ['delta', 'beta'],
        ['beta\n', 'alpha # after all\n'],
      ],
    );
    expect(await askVerdict(person, 'run', PLAN, decider)).toBe('decided');
    expect(told).toEqual([expect.stringContaining('"delta"'), 'gamma was lost meanwhile']);
    expect(drafts[2]).toContain('worker: delta');
    expect(drafts[3]).toContain('worker: beta');
    expect(sent).toEqual([['edit', 'run', edited('alpha')]]);
  });

  test('is told what the run refuses, and asked again; anything else ends it', async () => {
    const refusing = runThat(new RefusedError('the reason is too long'));
    const { person, told } = personWho(['r', 'x', 'a']);
    expect(await askVerdict(person, 'run', PLAN, refusing.decider)).toBe('decided');
    expect({ told, sent: refusing.sent }).toEqual({
      told: ['the reason is too long'],
      sent: [['approve', 'run', PLAN]],
    });
    const broken = runThat(new Error('the server is gone'));
    const asked = askVerdict(personWho(['a']).person, 'run', PLAN, broken.decider);
    await expect(asked).rejects.toThrow('the server is gone');
  });

  test('may go back from an editor that does not start', async () => {
    const { person, told } = personWho(['e', 'a']);
    const failing = { ...person, edit: () => Promise.reject(new Error('the editor "ed" ended with 127')) };
    expect(await askVerdict(failing, 'run', PLAN, runThat().decider)).toBe('decided');
    expect(told).toEqual(['the editor "ed" ended with 127']);
  });
});
