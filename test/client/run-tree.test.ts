import { WorkflowNotFoundError } from '@temporalio/client';
import { followTree, readTree, type ReadRun } from '../../src/client/run-tree';
import type { SolveTrace } from '../../src';
import { at, sampleCall, sampleRound, sampleStep, sampleTrace } from '../trace/sample-trace';

const CHILD = 'solve-1-r0s1';

/** A run whose first step is a child under way. */
const PARENT = runOf('solve-1', { childId: CHILD });
/** `PARENT` after its child has ended. */
const ENDED = {
  ...runOf('solve-1', { childId: CHILD, output: 'Yes.', endedAt: at(9) }),
  status: 'completed' as const,
};

function runOf(id: string, step: Parameters<typeof sampleStep>[1]): SolveTrace {
  const rounds = [sampleRound([sampleStep(0, step)])];
  return { ...sampleTrace(), id, degraded: false, rounds, calls: [sampleCall({ callId: id })] };
}

function childIds({ rounds }: SolveTrace): (string | null)[] {
  return rounds.map(({ childId }) => childId);
}

/** Runs that show one trace after the other; a following reader waits for the next, any other ends with the last. */
class Runs {
  private readonly seen = new Map<string, SolveTrace[]>();
  private readonly listeners = new Set<() => void>();
  private readonly closed = new Set<string>();
  readonly asked: string[] = [];

  show(id: string, trace: SolveTrace): void {
    this.seen.set(id, [...(this.seen.get(id) ?? []), trace]);
    this.tell();
  }

  end(id: string): void {
    this.closed.add(id);
    this.tell();
  }

  readonly read: ReadRun = (id, following) => this.traces(id, following);

  private async *traces(id: string, following: AbortSignal | null): AsyncGenerator<SolveTrace> {
    this.asked.push(id);
    if (!this.seen.has(id)) throw new WorkflowNotFoundError('no such run', id, undefined);
    for (let next = 0; ; next += 1) {
      const trace = this.seen.get(id)?.[next];
      if (trace !== undefined) yield trace;
      else if (following === null || this.closed.has(id)) return;
      else {
        next -= 1;
        await new Promise<void>((resolve) => this.listeners.add(resolve));
      }
    }
  }

  private tell(): void {
    const waiting = [...this.listeners];
    this.listeners.clear();
    for (const listener of waiting) listener();
  }
}

async function nextOf(traces: AsyncGenerator<SolveTrace>): Promise<SolveTrace> {
  const { value } = (await traces.next()) as { value: SolveTrace };
  return value;
}

describe('a tree of runs', () => {
  test('is read with the children that are under way, and their children', async () => {
    const runs = new Runs();
    runs.show('solve-1', PARENT);
    runs.show(CHILD, runOf(CHILD, { childId: `${CHILD}-r0s1` }));
    runs.show(`${CHILD}-r0s1`, runOf(`${CHILD}-r0s1`, {}));
    const whole = await readTree(runs.read, 'solve-1');
    expect(childIds(whole)).toEqual([null, CHILD, `${CHILD}-r0s1`]);
    expect(whole).toMatchObject({ usage: { calls: 3 } });
  });

  test('does not read a child whose end its parent knows', async () => {
    const runs = new Runs();
    runs.show('solve-1', ENDED);
    expect(await readTree(runs.read, 'solve-1')).toEqual(ENDED);
    expect(runs.asked).toEqual(['solve-1']);
  });

  test('reads a child again if its end presumes a call', async () => {
    const runs = new Runs();
    const presumed = { ...sampleCall({ callId: 'presumed/0/1/sol' }), childId: CHILD };
    runs.show('solve-1', { ...ENDED, calls: [...ENDED.calls, presumed] });
    runs.show(CHILD, runOf(CHILD, { output: 'Yes.' }));
    const { calls } = await readTree(runs.read, 'solve-1');
    expect(calls.map(({ callId }) => callId)).toEqual(['solve-1', CHILD]);
  });

  test('omits a child that the server has not begun yet', async () => {
    const runs = new Runs();
    runs.show('solve-1', PARENT);
    expect(await readTree(runs.read, 'solve-1')).toEqual(PARENT);
  });

  test('can be followed: any change in it shows at once, until the run has ended', async () => {
    const runs = new Runs();
    const traces = followTree(runs.read, 'solve-1');
    runs.show('solve-1', PARENT);
    expect(childIds(await nextOf(traces))).toEqual([null]);

    runs.show(CHILD, runOf(CHILD, {}));
    const begun = await nextOf(traces);
    expect(childIds(begun)).toEqual([null, CHILD]);

    runs.show(CHILD, runOf(CHILD, { output: 'Yes.' }));
    expect((await nextOf(traces)).rounds[1]?.steps[0]?.output).toBe('Yes.');

    runs.show('solve-1', ENDED);
    expect(await nextOf(traces)).toEqual(ENDED);
    expect((await traces.next()).done).toBe(true);
  });

  test('shows what the children of a cancelled run produced', async () => {
    const runs = new Runs();
    runs.show('solve-1', { ...PARENT, status: 'cancelled' });
    runs.end('solve-1');
    runs.show(CHILD, { ...runOf(CHILD, { output: 'Half.' }), status: 'cancelled' });
    runs.end(CHILD);
    let last: SolveTrace | undefined;
    for await (const trace of followTree(runs.read, 'solve-1')) last = trace;
    expect(last).toMatchObject({ status: 'cancelled', usage: { calls: 2 } });
    expect(last?.rounds[1]?.steps[0]?.output).toBe('Half.');
  });

  test('reports a child that cannot be read, but not to a reader that has stopped', async () => {
    const runs = new Runs();
    runs.show('solve-1', PARENT);
    const read: ReadRun = (id, follow) => {
      if (id === CHILD) throw new Error('the server is gone');
      return runs.read(id, follow);
    };
    await expect(readTree(read, 'solve-1')).rejects.toThrow('the server is gone');
    const traces = followTree(read, 'solve-1');
    await nextOf(traces);
    await expect(traces.next()).rejects.toThrow('the server is gone');
    const left = followTree(read, 'solve-1');
    await nextOf(left);
    await left.return(undefined);
  });
});
