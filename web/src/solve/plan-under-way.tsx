import type { ReactElement } from 'react';
import { useIsServed } from '../api/queries';
import { useLiveText } from '../api/live-texts';
import type { Round } from '../api/types';
import { useShown } from './context';
import { showText } from './show-text';

const SHOWN_CHARACTERS = 600;

/** Last words of the Conductor while it writes the plan of a round. */
export function PlanUnderWay({ childId, round }: Pick<Round, 'childId' | 'round'>): ReactElement {
  const { solve, texts } = useShown();
  const isServed = useIsServed(solve.id);
  const text = useLiveText(texts, { childId, round });
  return (
    <>
      <p className="faint">{isServed ? 'The Conductor is writing a plan …' : 'There is no plan yet.'}</p>
      {text !== '' && (
        <p className="answer growing faint" dir="auto">
          {showText(text.slice(-SHOWN_CHARACTERS))}
        </p>
      )}
    </>
  );
}
