import { type ReactElement, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { NightProgress } from '../../../src/training/contract';
import { describeUsd, joinFacts } from '../../../src/trace/describe';
import { request } from '../api/request';
import type { Me } from '../api/types';
import { StateMark } from '../parts/state-mark';
import { CyclePanel } from './cycle-panel';
import { Curves, RewardCurve } from './curves';
import { GateCard } from './gate-card';
import type { TrainRun } from './learning';
import { Nights } from './nights';

const LOOK_MS = 5000;

interface ReadRun extends TrainRun {
  readonly underWay: NightProgress | null;
}

/** A training run: its curve, its nights below, and behind a night its gate, behind a cycle what was tried in it. */
export function RunOfNights({ listed, me }: { readonly listed: TrainRun; readonly me: Me }): ReactElement {
  const { trainRun } = listed;
  const [date, chooseNight] = useState<string | null>(null);
  const [cycle, chooseCycle] = useState<number | null>(null);
  const { nights, underWay } = useRun(listed);
  const cycles = nights.flatMap((each) => each.cycles);
  const chosen = nights.find((night) => night.date === date);
  const shown = chosen ?? nights.findLast(({ decision }) => decision !== null) ?? null;
  return (
    <>
      <section className="card" aria-label={`Training run ${trainRun}`}>
        <h2>{trainRun}</h2>
        {underWay !== null && <UnderWay progress={underWay} />}
        {cycles.length > 0 && <RewardCurve cycles={cycles} />}
        <Nights
          nights={nights}
          shown={shown}
          cycle={cycle}
          onNight={chooseNight}
          onCycle={me.isAdmin ? chooseCycle : null}
        />
      </section>
      {cycle !== null && (
        <CyclePanel
          key={cycle}
          trainRun={trainRun}
          cycle={cycle}
          onClose={() => {
            chooseCycle(null);
          }}
        />
      )}
      {shown !== null && <GateCard trainRun={trainRun} date={shown.date} decision={shown.decision} />}
      {cycles.length > 0 && <Curves cycles={cycles} />}
    </>
  );
}

/** As it was listed, until it was read with how far its night is. */
function useRun(listed: TrainRun): ReadRun {
  const { data } = useQuery({
    queryKey: ['nights', listed.trainRun],
    queryFn: () => request<ReadRun>(`/api/nights/${encodeURIComponent(listed.trainRun)}`),
    refetchInterval: LOOK_MS,
  });
  if (data === undefined) return { ...listed, underWay: null };
  return data.underWay?.status === 'done' ? { ...data, underWay: null } : data;
}

function UnderWay({ progress }: { readonly progress: NightProgress }): ReactElement {
  const { night, status, cycles, done, phase, spentNanoUsd, warning } = progress;
  const cycle = Math.min(done + 1, cycles.last);
  const place = status === 'gate' ? 'its gate' : `cycle ${cycle} of ${cycles.last}, ${phase}`;
  return (
    <p className="line" role="status">
      <StateMark state={status === 'paused' ? 'waiting' : 'running'} />
      {joinFacts(
        `Night ${night}: ${status === 'running' || status === 'gate' ? place : `${status}, ${place}`}`,
        `${describeUsd(spentNanoUsd / 1e9)} so far`,
        warning,
      )}
    </p>
  );
}
