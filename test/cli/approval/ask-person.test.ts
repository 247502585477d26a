import { type Asking, askVerdict, type Person, Questions } from '../../../src/cli/kit/view/approval';
import { planChoices } from '../../../src/cli/kit/view/questions';
import { UsageError } from '../../../src/errors';
import { RefusedError } from '../../../src/client';
import type { SolveResult } from '../../../src';
import { sampleFamily, sampleWaiting } from '../../trace/sample-family';
import { sampleCall } from '../../trace/sample-trace';

/** Returns a run that refuses one message for each of these errors, and records the others. */
function runThat(...refusals: Error[]) {
  const sent: unknown[] = [];
  const take = (...message: unknown[]): Promise<void> => {
    const refusal = refusals.shift();
    if (refusal !== undefined) return Promise.reject(refusal);
    sent.push(message);
    return Promise.resolve();
  };
  const decider: Asking['decider'] = {
    planContext: () => Promise.resolve({ workers: ['alpha', 'beta'], maxSteps: 5, round: 0 }),
    approvePlan: (id, plan) => take('approve', id, plan),
    editPlan: async (id, plan) => {
      await take('edit', id, plan);
      return plan;
    },
    rejectPlan: (id, reason) => take('reject', id, reason),
    decideCall: (id, decision) => take('decide', id, decision),
  };
  return { decider, sent };
}

describe('questions', () => {
  /** Returns questions to a person whose answers the test gives one by one. */
  function openQuestions(...refusals: Error[]) {
    const { decider, sent } = runThat(...refusals);
    const told: string[] = [];
    const questions: ((answer: string) => void)[] = [];
    const person: Person = {
      ask: (_, signal) =>
        new Promise((resolve, reject) => {
          questions.push(resolve);
          signal.addEventListener('abort', () => {
            reject(new Error('taken back'));
          });
        }),
      tell: (text) => told.push(text),
      edit: (text) => Promise.resolve(text),
    };
    const asked = new Questions({ decider, whilePaused: (work) => work(), person });
    /** Shows a trace, and lets all pending work run as far as it can. */
    const consider = async (trace: SolveResult): Promise<void> => {
      asked.consider(trace);
      await settled();
    };
    const answer = async (text: string): Promise<void> => {
      questions.at(-1)?.(text);
      await settled();
    };
    return { asked, told, sent, questions, consider, answer };
  }

  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('asks once about a plan, shown whole, and sends the decision', async () => {
    const { consider, answer, told, sent, questions } = openQuestions();
    await consider(sampleFamily());
    expect(questions).toEqual([]);
    await consider(sampleWaiting());
    await consider(sampleWaiting());
    expect(told).toEqual([
      'What is the capital of France?\nRun solve-1 waits for approval of its plan, at most 12 calls, 40,000 tokens, $0.1200:\n' +
        '  step 1 (gpt): Task 1\n  step 2 (conductor): Task 2',
    ]);
    await answer('a');
    await consider(sampleWaiting());
    expect({ sent, questions: questions.length }).toMatchObject({
      sent: [['approve', 'solve-1', {}]],
      questions: 1,
    });
  });

  test('asks again about a plan that was rejected elsewhere and rewritten', async () => {
    const { consider, answer, sent } = openQuestions();
    const waiting = sampleWaiting();
    await consider(waiting);
    await consider({ ...waiting, calls: [...waiting.calls, sampleCall({ step: null, purpose: 'plan' })] });
    await answer('r');
    await answer('Be brief.');
    expect(sent).toEqual([['reject', 'solve-1', 'Be brief.']]);
  });

  test('withdraws its question, and leaves no plan for later, when somebody else has decided', async () => {
    const { asked, consider, sent, questions } = openQuestions();
    await consider(sampleWaiting());
    await consider(sampleFamily());
    asked.close();
    expect({ sent, questions: questions.length }).toEqual({ sent: [], questions: 1 });
    await expect(Promise.race([asked.left, Promise.resolve('well')])).resolves.toBe('well');
  });

  test('asks about a call of a tool with all of its arguments, and sends the decision', async () => {
    const { consider, answer, told, sent } = openQuestions();
    const approval = { id: '1.gpt.1.1', decision: null, at: null };
    const call = { name: 'shop__order', arguments: '{"item":"a map"}', output: null, outcome: null };
    const turns = [
      { worker: 'gpt', turn: 0, calls: [{ ...call, approval, startedAt: null, endedAt: null }] },
    ];
    const family = sampleFamily();
    const [round, ...rounds] = family.rounds;
    const [step, ...steps] = round?.steps ?? [];
    if (round === undefined || step === undefined) throw new Error('the sample has no step');
    const waiting = { ...round, steps: [{ ...step, turns }, ...steps] };
    await consider({ ...family, waitsFor: 'approval', rounds: [waiting, ...rounds] });
    expect(told).toEqual([
      'Run solve-1 asks whether shop__order may be called (1.gpt.1.1), with these arguments:\n  {\n    "item": "a map"\n  }',
    ]);
    await answer('r');
    await answer('We have one.');
    expect(sent).toEqual([
      ['decide', 'solve-1', { call: '1.gpt.1.1', approve: false, reason: 'We have one.' }],
    ]);
  });

  test('ends if the decision fails, or if the plan is left for later', async () => {
    const failing = openQuestions(new Error('the server is gone'));
    await failing.consider(sampleWaiting());
    await failing.answer('a');
    await expect(failing.asked.left).rejects.toThrow('the server is gone');
    const leaving = openQuestions();
    await leaving.consider(sampleWaiting());
    await leaving.answer('l');
    expect(await leaving.asked.left).toEqual({ left: 'solve-1' });
    expect(leaving.sent).toEqual([]);
  });
});

describe('a person who is asked about a plan', () => {
  const PLAN = { steps: [{ worker: 'alpha', subtask: 'Go', sees: [] }] };

  /** Returns a person who gives these answers, and makes these replacements in drafts. */
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

  const verdictOf = (person: Person, decider: Asking['decider']): Promise<boolean> =>
    askVerdict(planChoices('run', PLAN, decider), person, new AbortController().signal);

  test.each([
    [['a'], true, [['approve', 'run', PLAN]]],
    [[' Approve'], true, [['approve', 'run', PLAN]]],
    [['l'], false, []],
    [[null], false, []],
    [['', 'what?', 'a'], true, [['approve', 'run', PLAN]]],
    [['r', ' ', 'r', 'Ask beta.'], true, [['reject', 'run', 'Ask beta.']]],
    [['r', null], false, []],
  ])('answers %j', async (answers, verdict, expected) => {
    const { decider, sent } = runThat();
    expect(await verdictOf(personWho(answers).person, decider)).toBe(verdict);
    expect(sent).toEqual(expected);
  });

  test('edits until the run accepts the plan, and loses nothing that was written', async () => {
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
    expect(await verdictOf(person, decider)).toBe(true);
    expect(told).toEqual([expect.stringContaining('"delta"'), 'gamma was lost meanwhile']);
    expect(drafts[2]).toContain('worker: delta');
    expect(drafts[3]).toContain('worker: beta');
    expect(sent).toEqual([['edit', 'run', PLAN]]);
  });

  test('is told what the run refuses or why no editor starts, and asked again; any other error ends it', async () => {
    const { decider, sent } = runThat(new RefusedError('the reason is too long'));
    const { person, told } = personWho(['r', 'x', 'e', 'a']);
    const edit = (): Promise<never> => Promise.reject(new UsageError('the editor "ed" ended with 127'));
    expect(await verdictOf({ ...person, edit }, decider)).toBe(true);
    expect({ told, sent }).toEqual({
      told: ['the reason is too long', 'the editor "ed" ended with 127'],
      sent: [['approve', 'run', PLAN]],
    });
    const asked = verdictOf(personWho(['a']).person, runThat(new Error('the server is gone')).decider);
    await expect(asked).rejects.toThrow('the server is gone');
  });
});
