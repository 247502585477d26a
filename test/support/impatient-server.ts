import { TestWorkflowEnvironment } from '@temporalio/testing';
import { findTemporalCli } from '../../src/local/downloads';

/** A Temporal server of a test's own. */
export interface ImpatientServer {
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts one that suggests to every workflow to go on in a new run after so many events, where others wait for 4,096. */
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
