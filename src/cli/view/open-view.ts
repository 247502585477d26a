import type { SolveTrace } from '../../protocol/solve';
import { columnsOf, paintFor, type Screen } from '../terminal';
import { describeChanges } from './changes';
import { drawFrame } from './frame';

/** Shows a run as it goes. */
export interface RunView {
  /** Takes the newest trace. */
  show(trace: SolveTrace): void;
  /** Leaves the last picture standing, and the cursor below it. */
  close(): void;
}

/** A picture that redraws itself on a terminal, plain lines anywhere else. */
export async function openView(screen: Screen): Promise<RunView> {
  return screen.isTTY && process.env.TERM !== 'dumb' ? openLiveView(screen) : openPlainView(screen);
}

function openPlainView(screen: Screen): RunView {
  let last: SolveTrace | null = null;
  return {
    show: (trace) => {
      for (const line of describeChanges(last, trace)) screen.write(`${line}\n`);
      last = trace;
    },
    close: () => undefined,
  };
}

const SPINNER = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇'] as const;
const TURN_MS = 120;

async function openLiveView(screen: Screen): Promise<RunView> {
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(screen);
  const paint = paintFor(screen);
  let last: SolveTrace | null = null;
  const draw = (): void => {
    if (last === null) return;
    const now = Date.now();
    const spinner = SPINNER[Math.floor(now / TURN_MS) % SPINNER.length] ?? SPINNER[0];
    const columns = columnsOf(screen) ?? 80;
    update(drawFrame(last, { paint, columns, now: new Date(now).toISOString(), spinner }).join('\n'));
  };
  const turning = setInterval(draw, TURN_MS);
  return {
    show: (trace) => {
      last = trace;
      draw();
    },
    close: () => {
      clearInterval(turning);
      draw();
      update.done();
    },
  };
}
