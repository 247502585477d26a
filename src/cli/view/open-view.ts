import type { Paint } from '../../trace/lines';
import { columnsOf, harmless, openPicture, paintFor, type Screen } from '../terminal';

/** How something under way looks to a person. */
export interface Look<State> {
  /** Draws a picture of it, a string a line. */
  readonly draw: (state: State, frame: Frame) => readonly string[];
  /** Tells what is new since the last look, a plain line an event: the view for logs and pipes. */
  readonly tell: (before: State | null, after: State) => readonly string[];
}

export interface Frame {
  readonly paint: Paint;
  readonly columns: number;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The mark of what is under way; it turns with the time. */
  readonly spinner: string;
}

export interface View<State> {
  readonly show: (state: State) => void;
  /** Takes the picture off the screen while someone else writes on it. */
  readonly whilePaused: (work: () => Promise<void>) => Promise<void>;
  /** Leaves the last picture standing, and the cursor below it. */
  readonly close: () => void;
}

/** Opens a picture that redraws itself on a terminal, plain lines anywhere else. */
export function openView<State>(screen: Screen, look: Look<State>): View<State> {
  return screen.isTTY && process.env.TERM !== 'dumb'
    ? openLiveView(screen, look)
    : openPlainView(screen, look);
}

function openPlainView<State>(screen: Screen, { tell }: Look<State>): View<State> {
  let last: State | null = null;
  return {
    show: (state) => {
      // A line an event: no line end in foreign text may forge another one.
      for (const line of tell(last, state)) screen.write(`${harmless(line).replaceAll(/\r?\n/g, ' ')}\n`);
      last = state;
    },
    whilePaused: (work) => work(),
    close: () => undefined,
  };
}

const SPINNER = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇'] as const;
const TURN_MS = 120;

function openLiveView<State>(screen: Screen, look: Look<State>): View<State> {
  const picture = openPicture(screen);
  const paint = paintFor(screen);
  let last: State | null = null;
  let isPaused = false;
  const draw = (): void => {
    if (last === null || isPaused) return;
    const now = Date.now();
    const spinner = SPINNER[Math.floor(now / TURN_MS) % SPINNER.length] ?? SPINNER[0];
    picture.show(look.draw(last, { paint, columns: columnsOf(screen) ?? 80, now, spinner }).join('\n'));
  };
  const turning = setInterval(draw, TURN_MS);
  return {
    show: (state) => {
      last = state;
      draw();
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
      draw();
      picture.done();
      // Sets the next output, the answer or a message, apart.
      screen.write('\n');
    },
  };
}
