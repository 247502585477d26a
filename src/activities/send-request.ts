import { hash } from 'node:crypto';
import { Context, type Info } from '@temporalio/activity';
import type { ActivityCancellationDetails } from '@temporalio/common';
import type { Config } from '../config/schema';
import type { Allowance } from '../protocol/activity-contract';
import type { CallPurpose } from '../protocol/solve';
import { FAILURES } from '../protocol/failures';
import type { ResolvedRun } from '../protocol/cards';
import type { ToolTurn } from '../protocol/tool-use';
import type { LedgerRow } from '../store/ledger';
import type { Store } from '../store/store';
import type { LiveLog } from './live-log';
import { noteWritten, withinLimit } from './heartbeat';
import {
  type SentRequest,
  type ProviderFailure,
  type Ended,
  type Failed,
  failedWith,
  judgeReply,
  toProviderFailure,
} from './models/failure';
import type { BackgroundCalls, Complete, ModelReply, ModelRequest } from './models/model';
import type { Permit } from './rate-limits/limiter';
import type { Tools } from './tools';

export interface Dependencies {
  readonly config: Config;
  readonly store: Store;
  readonly complete: Complete;
  /** For cards with `background: true`. */
  readonly background: BackgroundCalls;
  /** One per process, since it remembers what was sent. */
  readonly pacing: Pacing;
  /** One per process, since it batches the texts of all calls. */
  readonly liveLog: LiveLog;
  /** One per process, since calls share its connections. */
  readonly tools: Tools;
  readonly policy?: PolicyProvider;
  /** Environment variables, the only source of API keys. */
  readonly env: NodeJS.ProcessEnv;
}

/** Serves a trained Conductor. The core knows nothing about checkpoints; an add-on provides this. */
export interface PolicyProvider {
  /**
   * Fixes the checkpoint that writes a run's plans: the named one, else the configured one, else the one being served.
   * Returns a run with a prompted Conductor unchanged. @throws ConfigError if there is no checkpoint
   */
  bind(run: ResolvedRun, checkpoint?: string): Promise<ResolvedRun>;
  readonly complete: Complete;
}

/**
 * Admits a request now, after the `earlier` ones of its call. Its permit must be released however the request ends.
 * @throws ApplicationFailure `Worker.Throttled`, `Worker.CircuitOpen` or `Store.Unavailable`
 */
export type Pacing = (call: ModelCall, earlier: readonly LedgerRow[]) => Promise<Permit>;

export interface ModelCall extends Omit<ModelRequest, 'apiKey' | 'callId' | 'signal'> {
  readonly rootId: string;
  /** Replaces Temporal's ids in the call id, together with round, step and worker. */
  readonly identity?: string;
  readonly purpose: CallPurpose;
  readonly round: number;
  readonly step: number | null;
  readonly worker: string;
  readonly allowance: Allowance;
  /** Set with `toolUse`, which was read from it. */
  readonly toolTurn?: ToolTurn;
  /** Sends the text to the stream log as it arrives. */
  readonly live?: true;
  /** Another worker is called if this one fails, so the call does not wait while the circuit is open. */
  readonly hasFallback?: true;
}

/**
 * Returns the id of a call: SHA-256 over workflow id, run id, activity id and everything that is sent. Retries of an
 * activity share it, so the next attempt finds the stored answer. For a call with an identity, that and its place in
 * the plan replace Temporal's ids, so another run that repeats the call finds the answer, even with the model at
 * another address.
 */
export function callIdOf(
  { workflowExecution, activityId }: Pick<Info, 'workflowExecution' | 'activityId'>,
  call: Omit<ModelCall, 'rootId' | 'purpose' | 'timeoutMs' | 'allowance'>,
): string {
  const { card, identity, round, step, worker, messages, toolUse, maxOutputTokens, outputSchema, seed } =
    call;
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  const place = identity === undefined ? [workflowId, runId, activityId] : [identity, round, step, worker];
  const { provider, model, api, temperature, effort, topP, topK, presencePenalty, thinking, extraBody } =
    card;
  const baseUrl = identity === undefined ? card.baseUrl : undefined;
  const settings = {
    ...{ provider, model, api, baseUrl, temperature, effort },
    ...{ topP, topK, presencePenalty, thinking, extraBody },
  };
  const request = { ...settings, messages, maxOutputTokens, outputSchema, seed, toolUse };
  return hash('sha256', JSON.stringify([...place, request]));
}

/** Sends one HTTP request and waits for its end. Never throws, whatever the provider does. */
export async function sendRequest(
  complete: Complete,
  call: ModelCall,
  credentials: Pick<ModelRequest, 'apiKey' | 'callId' | 'onText'>,
): Promise<Ended> {
  const { cancellationSignal } = Context.current();
  return withinLimit(call.timeoutMs, cancellationSignal, async (signal) => {
    let written = '';
    const onText = (text: string): void => {
      written += text;
      credentials.onText?.(text);
      noteWritten(written.length);
    };
    const request = { ...call, ...credentials, signal, onText };
    try {
      return judgeReply(await complete(request), request);
    } catch (error) {
      return brokenBy(error, request, written);
    }
  });
}

/** Converts an error to the provider's failure, with the text `written` so far, or to that of a call we stopped. */
export function brokenBy(error: unknown, asked: SentRequest, written = ''): Ended {
  const { aborted } = Context.current().cancellationSignal;
  const failure = aborted ? null : toProviderFailure(error, asked);
  if (failure === null) return brokenOff(true);
  return { kind: 'failed', failure, reply: written === '' ? null : cutReply(written) };
}

/** Returns the reply for an answer that broke off. Its usage is unknown, so its worst case stays booked. */
function cutReply(text: string): ModelReply {
  return { text, finish: 'length', refusal: null, usage: null, reportedNanoUsd: null, dropped: [] };
}

const NO_HEARTBEAT =
  // Another attempt may be under way by now.
  'Temporal received no heartbeat from the worker process in time and timed out this attempt';

/** Ends of an attempt whose call its run still wants: another attempt follows. */
const STOPS = {
  workerShutdown: 'the worker process was stopped during the call',
  paused: 'the call was paused in Temporal (activity pause) while it was under way',
  reset: 'the call was reset in Temporal (activity reset) while it was under way',
  timedOut: NO_HEARTBEAT,
  notFound: NO_HEARTBEAT,
} as const satisfies { readonly [Cause in keyof ActivityCancellationDetails]?: string };

/** Returns the failure of a call stopped by its run, by Temporal or by the end of this process; once sent, it may be billed. */
export function brokenOff(wasSent: boolean, reply: ModelReply | null = null): Failed {
  const details = Context.current().cancellationDetails;
  const causes = Object.keys(STOPS) as (keyof typeof STOPS)[];
  const cause = causes.find((each) => details?.[each] === true);
  const failure: ProviderFailure = {
    type: cause === undefined ? FAILURES.cancelled : FAILURES.workerStopped,
    message: cause === undefined ? 'the run was cancelled during the call' : STOPS[cause],
    retryable: true,
    billed: wasSent ? 'unknown' : 'no',
    health: 'unknown',
  };
  return failedWith(failure, reply);
}
