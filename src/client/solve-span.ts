import { codeOf } from '../errors';
import { FAILURES } from '../protocol/failures';
import { CONDUCTOR_ID } from '../protocol/names';
import type { SolveResult } from '../protocol/solve';
import { ATTRIBUTES, OPERATIONS, withoutWords } from '../telemetry/names';
import { spanNamedBy } from '../telemetry/parent';
import { activeTraceparent, OpenSpan, type SpanIds } from '../telemetry/spans';
import type { LiveEvent } from './live/live-events';

/** What may carry the span that a run's own spans hang below. */
interface Traced {
  readonly traceparent?: string | undefined;
}

interface StartedSolve {
  readonly id: string;
  readonly result: () => Promise<SolveResult>;
}

type SolveEnd = Pick<SolveResult, 'status' | 'degraded' | 'error'> &
  Partial<Pick<SolveResult, 'costUsd' | 'costIsLowerBound'>>;

/**
 * Span `invoke_workflow` of a solve that somebody waits for, by the process that waits: it begins before the run, whose
 * own spans hang below it. A run that nobody waits for has none.
 */
export class SolveSpan {
  private error: string | undefined;
  private id: string | undefined;
  private ended: SolveEnd | null = null;

  private constructor(
    private readonly span: OpenSpan | null,
    /** What the run is to carry. */
    readonly traceparent: string | undefined,
  ) {}

  /** @param caller `traceparent` of a caller in another process, where no span of this one is active */
  static async start(caller: string | undefined): Promise<SolveSpan> {
    const start = {
      name: `${OPERATIONS.workflow} ${CONDUCTOR_ID}`,
      attributes: { [ATTRIBUTES.operation]: OPERATIONS.workflow, [ATTRIBUTES.agent]: CONDUCTOR_ID },
    };
    const parent = spanNamedBy(caller);
    const span = await OpenSpan.start(start, parent);
    // A name that is none goes on to the run, which refuses it.
    const isUsable = caller === undefined || parent !== null;
    return new SolveSpan(span, isUsable ? (span?.traceparent ?? caller) : caller);
  }

  get ids(): SpanIds | undefined {
    return this.span?.ids;
  }

  during<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.span?.during(work) ?? work();
  }

  noteStart(id: string): void {
    this.id = id;
  }

  noteEnd(ended: SolveEnd): void {
    this.ended = ended;
  }

  /** Notes what kept its caller from the end of the solve. */
  noteError(error: unknown): void {
    const code = codeOf(error);
    if (typeof code === 'string') this.error = code;
    else this.error = error instanceof Error ? error.name : '';
  }

  end(): void {
    const { ended, error } = this;
    const id = this.id && withoutWords(this.id);
    const attributes = {
      ...(id !== undefined && { [ATTRIBUTES.conversation]: id, [ATTRIBUTES.run]: id }),
      ...(ended !== null && { [ATTRIBUTES.status]: ended.status, [ATTRIBUTES.degraded]: ended.degraded }),
      ...(ended?.costIsLowerBound === false && { [ATTRIBUTES.costUsd]: ended.costUsd }),
    };
    this.span?.end({ attributes, error: error ?? errorOf(ended) });
  }
}

function errorOf(ended: SolveEnd | null): string | undefined {
  return ended?.status === 'cancelled' ? FAILURES.cancelled : ended?.error?.type;
}

/** Starts a solve and waits for its end, within its span. */
export async function whileSolving<Request extends Traced>(
  request: Request,
  start: (traced: Request) => Promise<StartedSolve>,
): Promise<SolveResult> {
  const span = await SolveSpan.start(request.traceparent);
  try {
    const { id, result } = await startWithin(span, request, start);
    span.noteStart(id);
    const ended = await result();
    span.noteEnd(ended);
    return ended;
  } catch (error) {
    span.noteError(error);
    throw error;
  } finally {
    span.end();
  }
}

/** Starts a solve and tells its events to their end, or until nobody listens, within its span. */
export async function* whileTelling<Request extends Traced>(
  request: Request,
  start: (traced: Request) => Promise<StartedSolve>,
  tell: (id: string) => AsyncGenerator<LiveEvent>,
): AsyncGenerator<LiveEvent> {
  const span = await SolveSpan.start(request.traceparent);
  try {
    const { id } = await startWithin(span, request, start);
    span.noteStart(id);
    for await (const event of tell(id)) {
      if (event.kind === 'ended') span.noteEnd(event);
      yield event;
    }
  } catch (error) {
    span.noteError(error);
    throw error;
  } finally {
    span.end();
  }
}

function startWithin<Request extends Traced>(
  span: SolveSpan,
  request: Request,
  start: (traced: Request) => Promise<StartedSolve>,
): Promise<StartedSolve> {
  const { traceparent } = span;
  return span.during(() => start(traceparent === undefined ? request : { ...request, traceparent }));
}

/** Returns an input with the active span as its parent, unless it has one. */
export async function carrying<Input extends Traced>(input: Input): Promise<Input> {
  const traceparent = input.traceparent ?? (await activeTraceparent());
  return traceparent === undefined ? input : { ...input, traceparent };
}
