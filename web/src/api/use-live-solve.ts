import { useEffect, useState } from 'react';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { followSolve, type SolveEvent } from './event-stream';
import { LiveTexts } from './live-texts';
import { KEYS } from './queries';

export type Wait = Extract<SolveEvent, { kind: 'waiting' }>;

export interface Live {
  readonly texts: LiveTexts;
  /** What the solve waits for, told last; what happened since ends it. */
  readonly wait: Wait | null;
}

/** Follows a solve while it is shown: each event has the trace read again, texts are kept beside it. */
export function useLiveSolve(id: string): Live {
  const client = useQueryClient();
  const [texts] = useState(() => new LiveTexts());
  const [wait, setWait] = useState<Wait | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const readAgain = atMostEvery(300, () => void refresh(client, id));
    const take = (event: SolveEvent): void => {
      if (event.kind === 'text') texts.add(event, event.offset, event.delta);
      if (event.kind === 'restarted') texts.drop(event);
      setWait((before) => (event.kind === 'waiting' ? event : endsWait(event, before) ? null : before));
      if (event.kind !== 'text') readAgain();
    };
    void followSolve(id, take, stop.signal);
    return () => {
      stop.abort();
    };
  }, [client, id, texts]);
  return { texts, wait };
}

function endsWait(event: SolveEvent, wait: Wait | null): boolean {
  return wait === null || event.kind === 'ended' || wait.for !== 'approval' || event.kind === 'stepStarted';
}

async function refresh(client: QueryClient, id: string): Promise<void> {
  await client.invalidateQueries({ queryKey: KEYS.solve(id) });
}

/** Calls at once, and once more behind the last of the calls that came too soon. */
function atMostEvery(ms: number, work: () => void): () => void {
  let [last, timer] = [-Infinity, 0];
  return () => {
    window.clearTimeout(timer);
    const wait = last + ms - performance.now();
    const run = (): void => {
      last = performance.now();
      work();
    };
    if (wait <= 0) run();
    else timer = window.setTimeout(run, wait);
  };
}
