import type { Lesson } from '../../../test/support/lesson';
import type { PlannedKill } from './kill-script';
import { type NightFacts, openScene } from './scene';

/** Plays a night while its processes are killed as planned, each when its moment has come. */
export async function playNight(
  lesson: Lesson,
  bundle: string,
  kills: readonly PlannedKill[],
): Promise<NightFacts> {
  const scene = await openScene(lesson, bundle);
  const planned = new Set(kills);
  let last: Promise<void> = Promise.resolve();
  try {
    const facts = await scene.play((count) => {
      for (const kill of planned) {
        if (kill.request > count) continue;
        planned.delete(kill);
        last = last.then(() => scene.kill(kill.victim));
        // Told below; until then Node shall not take it for a lost rejection.
        last.catch(() => undefined);
      }
    });
    await last;
    if (planned.size > 0) throw new Error(`${planned.size} kills never came due: plan them earlier.`);
    return facts;
  } finally {
    await scene.close();
  }
}
