import type { HttpBindings } from '@hono/node-server';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Client } from '@temporalio/client';
import type { ConductorClient } from '../client';
import type { Config } from '../config/schema';
import type { Store } from '../store/store';
import type { SpanIds } from '../telemetry/spans';
import type { DayBudgets } from './access/day-budget';
import type { Key, KeyChecker, RequestRates } from './access/keys';
import type { OpenStreams } from './access/streams';
import type { AwaitedSolves } from './awaited';
import type { Closing } from './closing';
import type { Metrics } from './metrics';
import type { Refusal } from './refusal';
import type { Handovers } from './solve/handovers';
import type { Sessions } from './access/passes';
import type { Workers } from './workers';

/** Dependencies passed to `startGateway`. */
export interface GatewayOptions {
  readonly conductor: ConductorClient;
  readonly temporal: Client;
  readonly config: Config;
  readonly store: Store;
  /** The namespace's workflows page in Temporal's web UI, if known. */
  readonly workflowsPage?: string | undefined;
  /** Where the worker beside this gateway answers Prometheus, as `host:port`; `/metrics` then has both. */
  readonly workerMetrics?: string | undefined;
  /** Logs an error that concerns no caller. */
  readonly say: (line: string, about: LineAbout) => void;
}

/** What a line of the log is about: a solve, and the span of whoever waits for it. */
export interface LineAbout extends Partial<SpanIds> {
  readonly runId?: string | undefined;
}

/** Dependencies of all routes. */
export interface Gateway extends GatewayOptions {
  readonly keys: KeyChecker;
  readonly sessions: Sessions;
  readonly budgets: DayBudgets;
  readonly rates: RequestRates;
  readonly streams: OpenStreams;
  readonly handovers: Handovers;
  readonly awaited: AwaitedSolves;
  readonly workers: Workers;
  readonly metrics: Metrics;
  readonly closing: Closing;
}

/**
 * Environment of Hono's contexts: `key` is set on all routes that need a key, `span` once its caller waits for a solve,
 * `solve` once a request has one, `refused` once its answer is an error.
 */
export interface Env {
  Bindings: HttpBindings;
  Variables: {
    readonly key: Key;
    readonly span?: SpanIds;
    readonly solve?: string;
    readonly refused?: Refusal;
  };
}

export type App = OpenAPIHono<Env>;
