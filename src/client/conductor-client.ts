import { randomUUID } from 'node:crypto';
import { WorkflowFailedError, type Client } from '@temporalio/client';
import { DEFAULT_TASK_QUEUE, SOLVE_WORKFLOW } from '../protocol/names';
import type { SolveInput, SolveResult, SolveTrace } from '../protocol/solve';
import { openStore } from '../store/open-store';
import type { Store } from '../store/store';
import { keepText } from '../store/texts';
import { checkQuestion } from './check-question';
import { HistoryDecoder, readHistory } from './history';
import { resolveTrace } from './resolve-trace';
import { readRetries, type Retry } from './retries';
import { TraceReader } from './trace-reader';

export { BadQuestionError } from './check-question';

export interface ConductorClientOptions {
  /** Any Temporal client; its namespace and data converter hold. */
  readonly client: Client;
  /** The store that the workers use: one opened, or its URL, e.g. `file:.conductor/store`. */
  readonly store: Store | string;
  /** @default conductor */
  readonly taskQueue?: string;
}

/** A question, and what shall hold for this run alone. */
export type SolveRequest = Omit<SolveInput, 'question'> & { readonly question: string };

/** A run that was started. */
export interface SolveHandle {
  readonly id: string;
  readonly runId: string;
}

const SUMMARY_CHARACTERS = 120;

/** Starts, follows and stops solves. */
export class ConductorClient {
  private readonly client: Client;
  private readonly store: Store;
  private readonly taskQueue: string;

  constructor({ client, store, taskQueue = DEFAULT_TASK_QUEUE }: ConductorClientOptions) {
    this.client = client;
    this.store = typeof store === 'string' ? openStore(store, process.cwd()) : store;
    this.taskQueue = taskQueue;
  }

  /**
   * Starts a solve and returns at once.
   *
   * @param id workflow id; the same id is never started twice while it runs
   * @throws BadQuestionError for a question that is empty or over 1 MiB
   */
  async start(request: SolveRequest, id = `solve-${randomUUID()}`): Promise<SolveHandle> {
    checkQuestion(request.question);
    const question = await keepText(this.store, request.question);
    const handle = await this.client.workflow.start(SOLVE_WORKFLOW, {
      workflowId: id,
      taskQueue: this.taskQueue,
      args: [{ ...request, question }],
      staticSummary: request.question.slice(0, SUMMARY_CHARACTERS).replace(/\s+/g, ' '),
    });
    return { id, runId: handle.firstExecutionRunId };
  }

  /** Solves a question and waits for the end: an answered, failed or cancelled run is a result alike. */
  async solve(request: SolveRequest, id?: string): Promise<SolveResult> {
    const run = await this.start(request, id);
    await this.awaitEnd(run);
    return this.trace(run.id);
  }

  /** The trace of a run as it grows, from what has happened so far to its end. */
  async *watch(id: string): AsyncGenerator<SolveResult> {
    for await (const trace of this.follow(id, true)) yield await resolveTrace(trace, this.store);
  }

  /** The trace of a run as it is now, running or ended. Needs no worker. */
  async trace(id: string): Promise<SolveResult> {
    let last: SolveTrace | undefined;
    for await (const trace of this.follow(id, false)) last = trace;
    if (last === undefined) throw new Error(`run ${id} has no history`);
    return resolveTrace(last, this.store);
  }

  /** Calls that failed at no cost and are about to be tried again, and why. */
  async retries(id: string): Promise<Retry[]> {
    return readRetries(this.client, id, this.decoder());
  }

  /** Asks a run to stop: its HTTP calls are closed, nothing more is sent, and it ends as cancelled. */
  async cancel(id: string): Promise<void> {
    await this.client.workflow.getHandle(id).cancel();
  }

  /** By one long poll however much happens in the run, where following it takes one for each event. */
  private async awaitEnd({ id, runId }: SolveHandle): Promise<void> {
    try {
      await this.client.workflow.getHandle(id, runId).result();
    } catch (error) {
      // However the run ended, its trace tells.
      if (!(error instanceof WorkflowFailedError)) throw error;
    }
  }

  private async *follow(workflowId: string, wait: boolean): AsyncGenerator<SolveTrace> {
    const reader = new TraceReader(workflowId, this.decoder());
    for await (const events of readHistory(this.client, { workflowId }, wait)) {
      for (const event of events) await reader.read(event);
      yield reader.trace;
    }
  }

  private decoder(): HistoryDecoder {
    return new HistoryDecoder(this.client.options.loadedDataConverter);
  }
}
