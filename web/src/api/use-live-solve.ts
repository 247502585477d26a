import { useEffect, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { followSolve, type SolveEvent } from './event-stream';
import { LiveTexts, type StepPlace, type TextPlace } from './live-texts';
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
    const readAgain = inTurn(() => client.invalidateQueries({ queryKey: KEYS.solve(id) }));
    const take = (event: SolveEvent): void => {
      if (event.kind === 'text') texts.add(event, event.offset, event.delta);
      if (event.kind === 'thoughts') thoughts.add(event, event.offset, event.delta);
      if (event.kind === 'planning') {
        if (event.offset === 0) texts.drop(planOf(event));
        texts.add(planOf(event), event.offset, event.delta);
      }
      if (event.kind === 'restarted') {
        texts.drop(event);
        thoughts.drop(event);
      }
      setWait((before) => (event.kind === 'waiting' ? event : endsWait(event, before) ? null : before));
      if (!PIECES.has(event.kind)) readAgain();
    };
    void followSolve(id, take, stop.signal);
    return () => {
      stop.abort();
    };
  }, [client, id, texts, thoughts]);
  return { texts, thoughts, wait };
}

/** Events that add to a text, and change nothing else. */
const PIECES: ReadonlySet<SolveEvent['kind']> = new Set(['text', 'thoughts', 'planning']);

function planOf({ childId, round }: Pick<StepPlace, 'childId' | 'round'>): TextPlace {
  return { childId, round };
}

function endsWait(event: SolveEvent, wait: Wait | null): boolean {
  return wait === null || event.kind === 'ended' || wait.for !== 'approval' || event.kind === 'stepStarted';
}

const SHORTEST_PAUSE_MS = 300;
/** Part of the time that may go into the work: a long trace is read less often. */
const PAUSE_PER_WORK = 3;

/** Throttles work: the first runs at once, and all that is asked while it runs, or in the pause after it, is one more. */
function inTurn(work: () => Promise<void>): () => void {
  let [isBusy, isDue] = [false, false];
  const run = async (): Promise<void> => {
    const began = performance.now();
    await work();
    const took = performance.now() - began;
    window.setTimeout(again, Math.max(SHORTEST_PAUSE_MS, PAUSE_PER_WORK * took));
  };
  const again = (): void => {
    isBusy = isDue;
    isDue = false;
    if (isBusy) void run();
  };
  return () => {
    isDue = true;
    if (!isBusy) again();
  };
}
