import type { HttpBindings } from '@hono/node-server';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Client } from '@temporalio/client';
import type { ConductorClient } from '../client/conductor-client';
import type { Config } from '../config/schema';
import type { Store } from '../store/store';
import type { DayBudgets } from './access/day-budget';
import type { Key, KeyChecker } from './access/keys';
import type { Metrics } from './metrics';
import type { Sessions } from './access/passes';
import type { RequestRates } from './access/request-rate';
import type { Workers } from './workers';

/** What a gateway is given. */
export interface Place {
  readonly conductor: ConductorClient;
  readonly temporal: Client;
  readonly config: Config;
  readonly store: Store;
  /** Where Temporal's own page shows the workflows of the namespace, if that is known. */
  readonly workflowsPage?: string | undefined;
  /** Takes a line on what went wrong here, which is no caller's business. */
  readonly say: (line: string) => void;
}

/** What every route of the gateway works with. */
export interface Gateway extends Place {
  readonly keys: KeyChecker;
  readonly sessions: Sessions;
  readonly budgets: DayBudgets;
  readonly rates: RequestRates;
  readonly workers: Workers;
  readonly metrics: Metrics;
}

/** The environment of Hono's contexts: the caller's key is known wherever a route is reached. */
export interface Env {
  Bindings: HttpBindings;
  Variables: { readonly key: Key };
}

export type App = OpenAPIHono<Env>;
