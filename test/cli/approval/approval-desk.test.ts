import { ApprovalDesk, type DeskSetting } from '../../../src/cli/approval/desk';
import { RefusedError } from '../../../src/client/steer';
import type { SolveResult } from '../../../src/protocol/solve';
import { sampleFamily, sampleWaiting } from '../../trace/sample-family';
import { sampleCall } from '../../trace/sample-trace';

/** A desk whose person answers by hand, and a run that notes what it is told. */
function openDesk(refuse?: Error) {
  const told: string[] = [];
  const sent: unknown[] = [];
  const questions: { prompt: string; answer: (text: string) => void }[] = [];
  const noted = (...message: unknown[]): Promise<never[]> => {
    sent.push(message);
    return refuse === undefined ? Promise.resolve([]) : Promise.reject(refuse);
  };
  const setting: DeskSetting = {
    conductor: {
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
  return { desk: new ApprovalDesk(setting), told, sent, questions };
}

/** Everything that was begun has gone on as far as it can. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The same plan, written once more after it was rejected. */
function writtenAgain(trace: SolveResult): SolveResult {
  return { ...trace, calls: [...trace.calls, sampleCall({ step: null, purpose: 'plan' })] };
}

describe('a desk where plans are approved', () => {
  test('asks once about a plan, shown whole, and sends what was decided', async () => {
    const { desk, told, sent, questions } = openDesk();
    desk.consider(sampleWaiting());
    desk.consider(sampleWaiting());
    await settled();
    expect(told).toEqual([
      'What is the capital of France?\nRun solve-1 waits for approval of its plan, at most 12 calls, 40,000 tokens, $0.1200:\n' +
        '  step 1 (gpt): Task 1\n  step 2 (conductor): Task 2',
    ]);
    expect(questions).toHaveLength(1);
    questions[0]?.answer('a');
    await settled();
    desk.consider(sampleWaiting());
    await settled();
    expect({ sent, questions: questions.length }).toEqual({ sent: [['approve', 'solve-1']], questions: 1 });
  });

  test('asks nothing about a run that does not wait', async () => {
    const { desk, questions } = openDesk();
    desk.consider(sampleFamily());
    await settled();
    expect(questions).toEqual([]);
  });

  test('asks again about a plan written anew, even when nothing more happens after it', async () => {
    const { desk, sent, questions } = openDesk();
    desk.consider(sampleWaiting());
    await settled();
    // Rejected from elsewhere, and written again, between two looks.
    desk.consider(writtenAgain(sampleWaiting()));
    await settled();
    expect(questions).toHaveLength(2);
    questions[1]?.answer('r');
    await settled();
    questions[2]?.answer('Be brief.');
    await settled();
    expect(sent).toEqual([['reject', 'solve-1', 'Be brief.']]);
  });

  test('takes its question back when somebody else has decided, or the command ends', async () => {
    const { desk, sent, questions } = openDesk();
    desk.consider(sampleWaiting());
    await settled();
    desk.consider(sampleFamily());
    await settled();
    desk.close();
    expect({ sent, questions: questions.length }).toEqual({ sent: [], questions: 1 });
    await expect(Promise.race([desk.broken, Promise.resolve('well')])).resolves.toBe('well');
  });

  test("tells the run's own refusal, and breaks down of anything else", async () => {
    const refused = openDesk(new RefusedError('no plan waits'));
    refused.desk.consider(sampleWaiting());
    await settled();
    refused.questions[0]?.answer('a');
    await settled();
    expect(refused.told[1]).toBe('no plan waits');

    const broken = openDesk(new Error('the server is gone'));
    broken.desk.consider(sampleWaiting());
    await settled();
    broken.questions[0]?.answer('a');
    await expect(broken.desk.broken).rejects.toThrow('the server is gone');
  });
});
