import { type Asking, PlanQuestions } from '../../../src/cli/approval/ask-person';
import type { SolveResult } from '../../../src';
import { sampleFamily, sampleWaiting } from '../../trace/sample-family';
import { sampleCall } from '../../trace/sample-trace';

/** Questions to a person who answers by hand, and a run that notes what it is told. */
function openQuestions(refuse?: Error) {
  const told: string[] = [];
  const sent: unknown[] = [];
  const questions: { prompt: string; answer: (text: string) => void }[] = [];
  const noted = (...message: unknown[]): Promise<never[]> => {
    sent.push(message);
    return refuse === undefined ? Promise.resolve([]) : Promise.reject(refuse);
  };
  const asking: Asking = {
    decider: {
      planContext: () => Promise.resolve({ workers: ['gpt', 'conductor'], maxSteps: 5, round: 0 }),
      approvePlan: async (id) => {
        await noted('approve', id);
      },
      editPlan: async (id, plan) => {
        await noted('edit', id, plan);
        return plan;
      },
      rejectPlan: async (id, reason) => {
        await noted('reject', id, reason);
      },
    },
    whilePaused: (work) => work(),
    personFor: (signal) => ({
      ask: (prompt) =>
        new Promise((resolve, reject) => {
          questions.push({ prompt, answer: resolve });
          signal.addEventListener('abort', () => {
            reject(new Error('taken back'));
          });
        }),
      tell: (text) => told.push(text),
      edit: (text) => Promise.resolve(text),
    }),
  };
  return { asked: new PlanQuestions(asking), told, sent, questions };
}

/** Everything that was begun has gone on as far as it can. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Repeats the plan, written once more after it was rejected. */
function writtenAgain(trace: SolveResult): SolveResult {
  return { ...trace, calls: [...trace.calls, sampleCall({ step: null, purpose: 'plan' })] };
}

describe('plans that wait for a person', () => {
  test('asks once about a plan, shown whole, and sends what was decided', async () => {
    const { asked, told, sent, questions } = openQuestions();
    asked.consider(sampleWaiting());
    asked.consider(sampleWaiting());
    await settled();
    expect(told).toEqual([
      'What is the capital of France?\nRun solve-1 waits for approval of its plan, at most 12 calls, 40,000 tokens, $0.1200:\n' +
        '  step 1 (gpt): Task 1\n  step 2 (conductor): Task 2',
    ]);
    expect(questions).toHaveLength(1);
    questions[0]?.answer('a');
    await settled();
    asked.consider(sampleWaiting());
    await settled();
    expect({ sent, questions: questions.length }).toEqual({ sent: [['approve', 'solve-1']], questions: 1 });
  });

  test('asks nothing about a run that does not wait', async () => {
    const { asked, questions } = openQuestions();
    asked.consider(sampleFamily());
    await settled();
    expect(questions).toEqual([]);
  });

  test('asks again about a plan written anew, even when nothing more happens after it', async () => {
    const { asked, sent, questions } = openQuestions();
    asked.consider(sampleWaiting());
    await settled();
    // Rejected from elsewhere, and written again, between two looks.
    asked.consider(writtenAgain(sampleWaiting()));
    await settled();
    expect(questions).toHaveLength(2);
    questions[1]?.answer('r');
    await settled();
    questions[2]?.answer('Be brief.');
    await settled();
    expect(sent).toEqual([['reject', 'solve-1', 'Be brief.']]);
  });

  test('takes its question back when somebody else has decided, or the command ends', async () => {
    const { asked, sent, questions } = openQuestions();
    asked.consider(sampleWaiting());
    await settled();
    asked.consider(sampleFamily());
    await settled();
    asked.close();
    expect({ sent, questions: questions.length }).toEqual({ sent: [], questions: 1 });
    await expect(Promise.race([asked.left, Promise.resolve('well')])).resolves.toBe('well');
  });

  test('a failure to decide ends them', async () => {
    const { asked, questions } = openQuestions(new Error('the server is gone'));
    asked.consider(sampleWaiting());
    await settled();
    questions[0]?.answer('a');
    await expect(asked.left).rejects.toThrow('the server is gone');
  });

  test('one that is left for later is told', async () => {
    const { asked, questions, sent } = openQuestions();
    asked.consider(sampleWaiting());
    await settled();
    questions[0]?.answer('l');
    expect(await asked.left).toEqual({ left: 'solve-1' });
    expect(sent).toEqual([]);
  });
});
