import { useEffect, useState } from 'react';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { followSolve, type SolveEvent } from './event-stream';
import { LiveTexts } from './live-texts';
import { KEYS } from './queries';

export type Wait = Extract<SolveEvent, { kind: 'waiting' }>;

export interface Live {
  readonly texts: LiveTexts;
  /** What models think before their texts. */
  readonly thoughts: LiveTexts;
  /** Latest wait of the solve; null once a later event shows that it is over. */
  readonly wait: Wait | null;
}

/** Follows a solve while it is shown: events of texts and thoughts update these, all other events refetch the trace. */
export function useLiveSolve(id: string): Live {
  const client = useQueryClient();
  const [texts] = useState(() => new LiveTexts());
  const [thoughts] = useState(() => new LiveTexts());
  const [wait, setWait] = useState<Wait | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const readAgain = atMostEvery(300, () => void refresh(client, id));
    const take = (event: SolveEvent): void => {
      if (event.kind === 'text') texts.add(event, event.offset, event.delta);
      if (event.kind === 'thoughts') thoughts.add(event, event.offset, event.delta);
      if (event.kind === 'restarted') {
        texts.drop(event);
        thoughts.drop(event);
      }
      setWait((before) => (event.kind === 'waiting' ? event : endsWait(event, before) ? null : before));
      if (event.kind !== 'text' && event.kind !== 'thoughts') readAgain();
    };
    void followSolve(id, take, stop.signal);
    return () => {
      stop.abort();
    };
  }, [client, id, texts, thoughts]);
  return { texts, thoughts, wait };
}

function endsWait(event: SolveEvent, wait: Wait | null): boolean {
  return wait === null || event.kind === 'ended' || wait.for !== 'approval' || event.kind === 'stepStarted';
}

async function refresh(client: QueryClient, id: string): Promise<void> {
  await client.invalidateQueries({ queryKey: KEYS.solve(id) });
}

/** Throttles calls: the first runs at once, the last of those that come too soon runs at the end of the interval. */
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
