import { type ReactElement, type SubmitEvent, useId, useState } from 'react';
import type { Started } from '../api/types';
import { Problem } from '../parts/notice';
import { goTo, pathOfSolve } from '../route';
import { useShown } from './context';
import { useSteer } from './steer';

/** Starts a new solve that keeps the results before a step and continues from there. */
export function Retry({
  step,
  worker: planned,
}: {
  readonly step: number;
  readonly worker: string;
}): ReactElement {
  const { solve, me } = useShown();
  const id = useId();
  const [worker, setWorker] = useState(planned);
  const { mutate, isPending, error } = useSteer<Started>(solve.id);
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    const body = { from: step, ...(worker !== planned && { worker }) };
    mutate(
      { verb: 'retry', body },
      {
        onSuccess: (started) => {
          goTo(pathOfSolve(started.id));
        },
      },
    );
  };
  const workers = [...new Set([planned, ...me.workers.map((each) => each.id)])];
  return (
    <form className="line" onSubmit={send}>
      <label htmlFor={id}>Run again from here with</label>
      <select
        id={id}
        value={worker}
        onChange={(event) => {
          setWorker(event.target.value);
        }}
      >
        {workers.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <button type="submit" disabled={isPending}>
        Run again
      </button>
      {error !== null && <Problem>{error.message}</Problem>}
    </form>
  );
}
