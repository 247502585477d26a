import { type ReactElement, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { NightProgress } from '../../../src/training/contract';
import type { CycleMetrics } from '../../../src/training/records';
import { describeUsd, joinFacts } from '../../../src/trace/describe';
import { request } from '../api/request';
import type { Me, Night, TrainRun } from '../api/types';
import { Problem } from '../parts/notice';
import { StateMark } from '../parts/state-mark';
import { CyclePanel } from './cycle-panel';
import { Curves, RewardCurve } from './curves';
import { GateCard, useJudged } from './gate-card';
import { Nights } from './nights';

const LOOK_MS = 5000;

interface ReadRun extends TrainRun {
  readonly underWay: NightProgress | null;
}

/** A training run: its curve and nights. Choosing a night shows its gate, choosing a cycle shows what it tried. */
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
        <div className="line spread">
          <h2>{trainRun}</h2>
          {underWay !== null && <UnderWay progress={underWay} />}
        </div>
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
          trainRun={trainRun}
          cycle={cycle}
          onClose={() => {
            chooseCycle(null);
          }}
        />
      )}
      <JudgedCurves trainRun={trainRun} shown={shown} cycles={cycles} />
    </>
  );
}

interface JudgedCurvesProps {
  readonly trainRun: string;
  readonly shown: Night | null;
  readonly cycles: readonly CycleMetrics[];
}

/** The gate's card and the curves below it; they wait for the card, which would otherwise push them down. */
function JudgedCurves({ trainRun, shown, cycles }: JudgedCurvesProps): ReactElement {
  const { data, failureReason: failure, isLoading } = useJudged(trainRun, shown);
  return (
    <>
      {failure !== null && <Problem>The gate’s findings cannot be read: {failure.message}</Problem>}
      {data !== undefined && <GateCard night={data} />}
      {(!isLoading || failure !== null) && cycles.length > 0 && <Curves cycles={cycles} />}
    </>
  );
}

/** Reads a training run with its night's progress; until that arrives, returns the run as listed. */
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
