import { type ReactElement, useState } from 'react';
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { request } from '../api/request';
import type { Me, Serving as ServingState } from '../api/types';
import { Problem } from '../parts/notice';
import { withoutFigures } from './nights';

interface Checkpoints {
  readonly serving: ServingState;
  readonly checkpoints: readonly string[];
}

interface Change {
  readonly verb: 'promote' | 'rollback' | 'pin';
  readonly body: object;
  /** Sentence on what the change does, shown before it is confirmed. */
  readonly words: string;
}

const KEY = ['checkpoints'];

/** Poll interval: a night's gate may change what serves. */
const LOOK_MS = 5000;

export function useCheckpoints(): UseQueryResult<Checkpoints> {
  return useQuery({
    queryKey: KEY,
    queryFn: () => request<Checkpoints>('/api/checkpoints'),
    refetchInterval: LOOK_MS,
  });
}

/** The serving checkpoint and, for an admin key, controls to change it; each change asks for confirmation first. */
export function Serving({ me }: { readonly me: Me }): ReactElement | null {
  const client = useQueryClient();
  const [change, propose] = useState<Change | null>(null);
  const { data } = useCheckpoints();
  const {
    mutate,
    isPending,
    error,
    data: done,
  } = useMutation({
    mutationFn: ({ verb, body }: Change) =>
      request<{ readonly sentence: string }>(`/api/checkpoints/${verb}`, { method: 'POST', body }),
    onSettled: () => {
      propose(null);
      return client.invalidateQueries({ queryKey: KEY });
    },
  });
  if (data === undefined || data.checkpoints.length === 0) return null;
  return (
    <section className="card" aria-label="What serves">
      <h2>{describeServing(data.serving)}</h2>
      <p className="faint">{withoutFigures(data.serving.reason)}</p>
      {me.isAdmin && change === null && <Choices checkpoints={data} onPropose={propose} />}
      {change !== null && (
        <div className="approval" role="group" aria-label="Confirm">
          <p>{change.words}</p>
          <div className="tools">
            <button
              type="button"
              className="primary"
              disabled={isPending}
              autoFocus
              onClick={() => {
                mutate(change);
              }}
            >
              Do it
            </button>
            <button
              type="button"
              onClick={() => {
                propose(null);
              }}
            >
              Cancel
            </button>
          </div>
        </div>
      )}
      <p aria-live="polite">{done?.sentence}</p>
      {error !== null && <Problem>{error.message}</Problem>}
    </section>
  );
}

interface ChoicesProps {
  readonly checkpoints: Checkpoints;
  readonly onPropose: (change: Change) => void;
}

function Choices({ checkpoints: { serving, checkpoints }, onPropose }: ChoicesProps): ReactElement {
  const now = nameOfPointer(serving.serving);
  const others = checkpoints.filter((each) => each !== now);
  const [chosen, choose] = useState('');
  const checkpoint = others.includes(chosen) ? chosen : others.at(-1);
  const before = serving.before.at(-1);
  return (
    <div className="tools">
      {checkpoint !== undefined && (
        <>
          <select
            aria-label="Checkpoint"
            value={checkpoint}
            onChange={(event) => {
              choose(event.target.value);
            }}
          >
            {others.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
          <button
            type="button"
            onClick={() => {
              onPropose({
                verb: 'promote',
                body: { checkpoint },
                words: `From the next solve on, ${checkpoint} plans in place of ${now ?? 'the configured Conductor'}. Solves under way keep theirs.`,
              });
            }}
          >
            Promote
          </button>
        </>
      )}
      {before !== undefined && (
        <button
          type="button"
          onClick={() => {
            onPropose({
              verb: 'rollback',
              body: {},
              words: `From the next solve on, ${nameOfPointer(before) ?? 'the configured Conductor'} plans again in place of ${now ?? 'what serves'}.`,
            });
          }}
        >
          Roll back
        </button>
      )}
      <button
        type="button"
        onClick={() => {
          onPropose({
            verb: 'pin',
            body: { pinned: !serving.pinned },
            words: serving.pinned
              ? 'The gate may again change what serves.'
              : 'The gate will not change what serves, whatever a night finds.',
          });
        }}
      >
        {serving.pinned ? 'Unpin' : 'Pin'}
      </button>
    </div>
  );
}

type Pointer = ServingState['serving'];

function nameOfPointer(pointer: Pointer): string | null {
  return pointer === null ? null : `${pointer.trainRun}/${pointer.name}`;
}

function describeServing({ serving, pinned }: ServingState): string {
  const name = nameOfPointer(serving);
  const pin = pinned ? ', pinned' : '';
  return name === null ? `No checkpoint serves${pin}` : `${name} serves${pin}`;
}
