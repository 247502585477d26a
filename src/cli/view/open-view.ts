import type { Retry } from '../../client/conductor-client';
import type { SolveTrace } from '../../protocol/solve';
import { columnsOf, harmless, openPicture, paintFor, type Screen } from '../terminal';
import { isUnbegun } from '../../trace/run-tree';
import { describeChanges, describeRetry } from './changes';
import { drawFrame } from './frame';

export interface RunView {
  readonly show: (trace: SolveTrace) => void;
  readonly showRetries: (retries: readonly Retry[]) => void;
  /** Takes the picture off the screen while someone else writes on it. */
  readonly whilePaused: (work: () => Promise<void>) => Promise<void>;
  /** Leaves the last picture standing, and the cursor below it. */
  readonly close: () => void;
}

/**
 * A picture that redraws itself on a terminal, plain lines anywhere else.
 *
 * @param isAsked a person is asked about plans that wait
 */
export function openView(screen: Screen, isAsked = false): RunView {
  return screen.isTTY && process.env.TERM !== 'dumb' ? openLiveView(screen) : openPlainView(screen, isAsked);
}

function openPlainView(screen: Screen, isAsked: boolean): RunView {
  let last: SolveTrace | null = null;
  const told = new Set<string>();
  // A line an event: no line end in foreign text may forge another one.
  const write = (line: string): void => {
    screen.write(`${harmless(line).replaceAll(/\r?\n/g, ' ')}\n`);
  };
  return {
    show: (trace) => {
      const shown = isAsked ? withoutUnbegun(trace) : trace;
      for (const line of describeChanges(last, shown)) write(line);
      last = trace.waitsFor === undefined ? shown : trace;
    },
    showRetries: (retries) => {
      for (const line of retries.map(describeRetry)) {
        if (!told.has(line)) write(line);
        told.add(line);
      }
    },
    whilePaused: (work) => work(),
    close: () => undefined,
  };
}

/** A plan that may have to wait is shown to the person who is asked about it, else once its first step begins. */
function withoutUnbegun(trace: SolveTrace): SolveTrace {
  if (trace.status !== 'running') return trace;
  const rounds = trace.rounds.map((round) =>
    isUnbegun(round) ? { ...round, plan: null, steps: [] } : round,
  );
  const shown = { ...trace, rounds };
  if (trace.rounds.some((round) => round.childId === null && isUnbegun(round))) delete shown.estimate;
  return shown;
}

const SPINNER = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇'] as const;
const TURN_MS = 120;

function openLiveView(screen: Screen): RunView {
  const picture = openPicture(screen);
  const paint = paintFor(screen);
  let last: SolveTrace | null = null;
  let waiting: readonly Retry[] = [];
  let isPaused = false;
  const draw = (): void => {
    if (last === null || isPaused) return;
    const now = Date.now();
    const spinner = SPINNER[Math.floor(now / TURN_MS) % SPINNER.length] ?? SPINNER[0];
    const columns = columnsOf(screen) ?? 80;
    const frame = drawFrame(last, waiting, { paint, columns, now: new Date(now).toISOString(), spinner });
    picture.show(frame.join('\n'));
  };
  const turning = setInterval(draw, TURN_MS);
  return {
    show: (trace) => {
      last = trace;
      draw();
    },
    showRetries: (retries) => {
      waiting = retries;
    },
    whilePaused: async (work) => {
      isPaused = true;
      // Nothing of it is to stand there twice.
      picture.clear();
      try {
        await work();
      } finally {
        isPaused = false;
        draw();
      }
    },
    close: () => {
      clearInterval(turning);
      isPaused = false;
      waiting = [];
      draw();
      picture.done();
      // Sets the next output, the answer or a message, apart.
      screen.write('\n');
    },
  };
}
