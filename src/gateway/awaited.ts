import type { ServerResponse } from 'node:http';
import { SolveSpan } from '../client';
import type { SolveResult } from '../protocol/solve';
import { spanNamedBy } from '../telemetry/parent';
import type { SpanIds } from '../telemetry/spans';

/** A request whose client waits for a solve. */
interface WaitingRequest {
  /** Span of its client, as its headers name it. */
  readonly caller: string | undefined;
  readonly response: Pick<ServerResponse, 'closed' | 'once'>;
  /** Told the span of the wait, if there is one. */
  readonly onSpan: (ids: SpanIds) => void;
  /** Returns the error that was its answer, if one was. */
  readonly refused: () => Error | undefined;
}

/** Spans of the solves that clients of this process wait for. */
export class AwaitedSolves {
  private readonly spans = new Map<string, Set<SolveSpan>>();

  /** Starts or finds a solve within a span, which ends when the response does. */
  async during<Solve extends { readonly id: string }>(
    { caller, response, onSpan, refused }: WaitingRequest,
    start: (traceparent: string | undefined) => Promise<Solve>,
  ): Promise<Solve> {
    const span = await SolveSpan.start(caller);
    if (span.ids !== undefined) onSpan(span.ids);
    let id: string | undefined;
    const end = (): void => {
      const error = refused();
      if (error !== undefined) span.noteError(error);
      span.end();
      if (id !== undefined) this.forget(id, span);
    };
    try {
      const solve = await span.during(() => start(span.traceparent));
      id = solve.id;
      span.noteStart(id);
      this.remember(id, span);
      if (response.closed) end();
      else response.once('close', end);
      return solve;
    } catch (error) {
      span.noteError(error);
      span.end();
      throw error;
    }
  }

  noteEnd(result: SolveResult): void {
    for (const span of this.spans.get(result.id) ?? []) span.noteEnd(result);
  }

  private remember(id: string, span: SolveSpan): void {
    this.spans.set(id, (this.spans.get(id) ?? new Set()).add(span));
  }

  private forget(id: string, span: SolveSpan): void {
    const spans = this.spans.get(id);
    spans?.delete(span);
    if (spans?.size === 0) this.spans.delete(id);
  }
}

/** Returns the span of a request's client; what is no `traceparent` counts as none, as W3C demands. */
export function callerNamedIn(header: string | undefined): string | undefined {
  return spanNamedBy(header) === null ? undefined : header;
}
