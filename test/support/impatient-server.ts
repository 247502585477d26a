import { TestWorkflowEnvironment } from '@temporalio/testing';
import { findTemporalCli } from '../../src/local/downloads';

/** Temporal server for one test. */
export interface ImpatientServer {
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts a server that suggests continuing as new after `events` events instead of the usual 4,096. */
export function startImpatientServer(events: number): Promise<ImpatientServer> {
  return startServerWith({ 'limit.historyCount.suggestContinueAsNew': String(events) });
}

/** Starts a server that sees within a second, instead of minutes, that a version of workers has drained. */
export function startDrainingServer(): Promise<ImpatientServer> {
  const soon = '"1s"';
  return startServerWith({
    'matching.wv.VersionDrainageStatusVisibilityGracePeriod': soon,
    'matching.wv.VersionDrainageStatusRefreshInterval': soon,
  });
}

/** @param settings of Temporal's dynamic configuration, as JSON */
async function startServerWith(settings: Readonly<Record<string, string>>): Promise<ImpatientServer> {
  const { path } = await findTemporalCli({ env: process.env, say: () => undefined });
  const server = await TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path },
      extraArgs: Object.entries(settings).flatMap(([name, value]) => [
        '--dynamic-config-value',
        `${name}=${value}`,
      ]),
    },
  });
  return { address: server.address, stop: () => server.teardown() };
}
