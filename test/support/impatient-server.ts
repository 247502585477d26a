import { TestWorkflowEnvironment } from '@temporalio/testing';
import { findTemporalCli } from '../../src/local/downloads';

/** Temporal server for one test. */
export interface ImpatientServer {
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts a server that suggests continuing as new after `events` events instead of the usual 4,096. */
export async function startImpatientServer(events: number): Promise<ImpatientServer> {
  const { path } = await findTemporalCli({ env: process.env, say: () => undefined });
  const server = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path },
      extraArgs: ['--dynamic-config-value', `limit.historyCount.suggestContinueAsNew=${events}`],
    },
  });
  return { address: server.address, stop: () => server.teardown() };
}
