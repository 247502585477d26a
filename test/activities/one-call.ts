import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities, createPacing, createTools, LiveLog } from '../../src/activities';
import type { Pacing } from '../../src/activities/send-request';
import { backgroundOpenAI, type Complete } from '../../src/activities/models';
import { parseConfig } from '../../src/config/load';
import type { WorkerResult } from '../../src/protocol/activity-contract';
import type { ModelCard } from '../../src/protocol/cards';
import { CALL_WORKER } from '../../src/protocol/names';
import type { Store } from '../../src';
import { aCard } from './models/ask';

export const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 };

/** A provider whose answers are numbered, and each too long for a history. */
export class Provider {
  bought = 0;

  readonly complete: Complete = () => {
    this.bought += 1;
    const text = `answer ${this.bought} `.repeat(1000);
    const whole = { finish: 'stop', refusal: null, usage, reportedNanoUsd: null, dropped: [] } as const;
    return Promise.resolve({ text, ...whole });
  };
}

const config = parseConfig({
  conductor: { provider: 'local', model: 'sim-1' },
  workers: [
    { id: 'ada', provider: 'local', model: 'sim-1' },
    { id: 'gem', provider: 'google', model: 'sim-1', apiKeyEnv: 'SIM_KEY' },
  ],
});

/** Makes one attempt at a call, always the same one, as a worker process would. */
export function attempt(
  store: Store,
  complete: Complete,
  activity: MockActivityEnvironment = anActivity(),
  pacing: Pacing = createPacing(config, store),
  provider: ModelCard['provider'] = 'local',
): Promise<WorkerResult> {
  const activities = createActivities({
    config,
    store,
    complete,
    background: backgroundOpenAI,
    pacing,
    liveLog: new LiveLog(store),
    tools: createTools(config, store, {}),
    env: { SIM_KEY: 'sk-sim' },
  });
  const place = { rootId: 'w', question: 'Why?', subtask: 'Answer.', sees: [], round: 0, step: 0 };
  const worker = aCard({ provider, ...(provider === 'local' && { apiKeyEnv: null }) });
  const allowance = { requests: 20, billable: 20 };
  const ask = (): Promise<WorkerResult> =>
    activities[CALL_WORKER]({ ...place, worker, allowance, live: true });
  return activity.run<[], WorkerResult, typeof ask>(ask);
}

/** Returns an activity whose run ends in this many seconds. @param log receives its log lines */
export function anActivity({
  seconds = 600,
  heartbeatTimeoutMs = 60_000,
  log = [] as string[],
} = {}): MockActivityEnvironment {
  const logger = new DefaultLogger('INFO', ({ message }) => log.push(message));
  return new MockActivityEnvironment(
    { heartbeatTimeoutMs, scheduleToCloseTimeoutMs: seconds * 1000 },
    { logger },
  );
}
