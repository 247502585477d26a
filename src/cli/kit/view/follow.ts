import { setTimeout as pause } from 'node:timers/promises';
import { type Paint, widthOf } from '../../../trace/lines';
import { unlessInterrupted } from '../ending';
import { watchForMissingWorker } from '../queues';
import type { Session } from '../session';
import { columnsOf, harmless, paintFor, type Screen, setOnScreen } from '../terminal';

interface Followed<State, Aside> {
  /** Ends when the followed workflow has ended. */
  readonly states: AsyncIterator<State>;
  readonly view: Pick<View<State>, 'show' | 'close'>;
  readonly aside?: Promise<Aside>;
}

/**
 * Shows a workflow until it ends, and says which workers it waits for. Returns its last state, or the value of
 * `aside`; null after Ctrl-C.
 */
export async function follow<State, Aside = never>(
  session: Session,
  workflowId: string,
  interruption: AbortSignal,
  { states, view, aside }: Followed<State, Aside>,
): Promise<State | Aside | undefined | null> {
  const stopLooking = watchForMissingWorker(session, workflowId);
  const ended = aside?.then((value) => ({ done: true as const, value })) ?? NEVER;
  const others = [breakdownOf(session.worker?.ended), ended];
  let last: State | undefined;
  try {
    for (;;) {
      const next = await unlessInterrupted(interruption, Promise.race([states.next(), ...others]));
      if (next === undefined) return null;
      if (next.done === true) return (next.value as Aside | undefined) ?? last;
      last = next.value;
      view.show(last);
    }
  } finally {
    stopLooking();
    view.close();
  }
}

/** Polls a running job every second until it ends. */
export async function* lookAgain<State>(
  look: () => Promise<State | null | undefined>,
): AsyncGenerator<State> {
  for (;;) {
    const seen = await look();
    if (seen === null) return;
    if (seen !== undefined) yield seen;
    await pause(1_000, undefined, { ref: false });
  }
}

const NEVER = new Promise<never>(() => undefined);

/** Rejects when the command's own worker stops; otherwise never settles. */
export async function breakdownOf(ended: Promise<void> = NEVER): Promise<never> {
  await ended;
  throw new Error('the worker of this command stopped working');
}

/** Presentation of a running job. */
export interface Look<State> {
  readonly draw: (state: State, frame: ViewFrame) => readonly string[];
  /** Describes what changed since the last look, one plain line per event, for logs and pipes. */
  readonly tell: (before: State | null, after: State) => readonly string[];
}

export interface ViewFrame {
  readonly paint: Paint;
  readonly columns: number;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly spinner: string;
}

interface View<State> {
  readonly show: (state: State) => void;
  /** Shows nothing while `work` runs; the first line written meanwhile erases a picture. */
  readonly whilePaused: (work: () => Promise<void>) => Promise<void>;
  /** Leaves the last picture on the screen, with the cursor below it. */
  readonly close: () => void;
}

/** Opens a picture that redraws itself on a terminal, or plain lines anywhere else. */
export function openView<State>(screen: Screen, look: Look<State>): View<State> {
  return isDrawn(screen) ? openLiveView(screen, look) : openPlainView(screen, look);
}

/** Returns whether a view draws pictures there. */
export function isDrawn({ isTTY }: Pick<Screen, 'isTTY'>): boolean {
  return isTTY && process.env.TERM !== 'dumb';
}

function openPlainView<State>(screen: Screen, { tell }: Look<State>): View<State> {
  let told: State | null = null;
  let last: State | null = null;
  let pauses = 0;
  const tellNews = (): void => {
    if (pauses > 0 || last === null) return;
    // One line per event: a line end in untrusted text must not forge another event.
    for (const line of tell(told, last)) screen.write(`${harmless(line).replaceAll(/\r?\n/g, ' ')}\n`);
    told = last;
  };
  return {
    show: (state) => {
      last = state;
      tellNews();
    },
    whilePaused: async (work) => {
      pauses += 1;
      await work().finally(() => (pauses -= 1));
      tellNews();
    },
    close: () => {
      pauses = 0;
      tellNews();
    },
  };
}

const SPINNER = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇'] as const;
const TURN_MS = 120;

/** Opens a picture that is redrawn in place. Output of `say` goes above it. */
function openLiveView<State>(screen: Screen, look: Look<State>): View<State> {
  const paint = paintFor(screen);
  let last: State | null = null;
  let drawn = '';
  let rows = 0;
  let pauses = 0;
  const erase = (): string => {
    const up = rows === 0 ? '' : `\u001b[${rows}A\r\u001b[J`;
    rows = 0;
    return up;
  };
  const clear = (): unknown => screen.write(erase());
  const redraw = (): void => {
    if (pauses > 0 || drawn === '') return;
    const before = erase();
    // A terminal of unknown size reports 0. Lines above the first row could not be erased.
    const [columns, height] = [screen.columns || 80, (screen.rows || 24) - 1];
    const lines: string[] = [];
    for (const line of drawn.split('\n').reverse()) {
      const needed = Math.max(1, Math.ceil(widthOf(line) / columns));
      if (rows + needed > height) break;
      rows += needed;
      lines.unshift(line);
    }
    screen.write(`${before}${lines.join('\n')}\n`);
  };
  const draw = (): void => {
    if (last === null) return;
    const now = Date.now();
    const spinner = SPINNER[Math.floor(now / TURN_MS) % SPINNER.length] ?? SPINNER[0];
    const lines = look.draw(last, { paint, columns: columnsOf(screen) ?? 80, now, spinner });
    const next = harmless(lines.join('\n'), true);
    if (next === drawn && rows > 0) return;
    drawn = next;
    redraw();
  };
  setOnScreen({ clear, redraw });
  const turning = setInterval(draw, TURN_MS);
  return {
    show: (state) => {
      last = state;
      draw();
    },
    whilePaused: async (work) => {
      pauses += 1;
      try {
        await work();
      } finally {
        pauses -= 1;
        draw();
      }
    },
    close: () => {
      clearInterval(turning);
      pauses = 0;
      // Separates the picture from what was written in its place.
      if (rows === 0 && drawn !== '') screen.write('\n');
      draw();
      setOnScreen(null);
      // Separates the picture from the next output, the answer or a message.
      screen.write('\n');
    },
  };
}
