import type { ReactElement } from 'react';
import type { StepPlace } from '../api/live-texts';
import { usePrompt } from '../api/queries';
import { useShown } from './context';
import { WholeText } from './whole-text';

/** The complete prompt of a step, read when it is shown. */
export function SentPrompt({ place }: { readonly place: StepPlace }): ReactElement | null {
  const { solve } = useShown();
  const { data, error } = usePrompt(place.childId ?? solve.id, place);
  if (error !== null) return <p className="faint">{error.message}</p>;
  if (data === undefined) return null;
  return (
    <>
      {data.map(({ role, text }, index) => (
        <WholeText key={index} label={role} text={text} />
      ))}
    </>
  );
}
