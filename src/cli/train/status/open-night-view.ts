import type { NightProgress } from '../../../training/progress';
import { columnsOf, paintFor, type Screen } from '../../terminal';
import { drawNight } from './draw-night';

/** Shows a night as it goes. */
export interface NightView {
  readonly show: (progress: NightProgress) => void;
  /** Leaves the last picture standing. */
  readonly close: () => void;
}

/** A picture that redraws itself on a terminal, a line whenever something changed anywhere else. */
export async function openNightView(screen: Screen): Promise<NightView> {
  return screen.isTTY && process.env.TERM !== 'dumb' ? openLiveView(screen) : openPlainView(screen);
}

function openPlainView(screen: Screen): NightView {
  let last = '';
  return {
    show: ({ night, status, phase, done, rewards, warning }) => {
      const reward = rewards.at(-1)?.toFixed(3) ?? 'none yet';
      const parts = [`night ${night}`, status, phase, `cycle ${done} done`, `reward ${reward}`];
      const line = [...parts, ...(warning === null ? [] : [warning])].join(' · ');
      if (line !== last) screen.write(`${line}\n`);
      last = line;
    },
    close: () => undefined,
  };
}

async function openLiveView(screen: Screen): Promise<NightView> {
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(screen);
  const paint = paintFor(screen);
  return {
    show: (progress) => {
      const frame = { paint, columns: columnsOf(screen) ?? 80, now: Date.now() };
      update(drawNight(progress, frame).join('\n'));
    },
    close: () => {
      update.done();
    },
  };
}
