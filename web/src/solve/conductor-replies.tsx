import type { ReactElement } from 'react';
import { useReplies } from '../api/queries';
import type { Round } from '../api/types';
import { Fold } from '../parts/fold';
import { useShown } from './context';
import { WholeText } from './whole-text';

/** The Conductor's replies for a round, with its reasoning; read when the fold is opened. */
export function ConductorReplies({ round }: { readonly round: Round }): ReactElement | null {
  if (round.isGiven === true) return null;
  return (
    <Fold summary="What the Conductor wrote">
      <Replies round={round} />
    </Fold>
  );
}

function Replies({ round }: { readonly round: Round }): ReactElement | null {
  const { solve } = useShown();
  const { data, error } = useReplies(round.childId ?? solve.id, round.round);
  if (error !== null) return <p className="faint">{error.message}</p>;
  if (data?.length === 0) return <p className="faint">No reply.</p>;
  return (
    <>
      {data?.map((reply, index) => (
        <WholeText key={index} label={`Reply ${index + 1}`} text={reply} />
      ))}
    </>
  );
}
