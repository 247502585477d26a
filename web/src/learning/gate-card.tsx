import type { ReactElement } from 'react';
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { riskOf } from '../../../src/statistics/statistics';
import { signed } from '../../../src/trace/lines';
import type { GateRecord } from '../../../src/training/records';
import { request } from '../api/request';
import type { JudgedNight, Night } from '../api/types';
import { StateMark } from '../parts/state-mark';

/** Reads a night with its gate's evidence; keeps the previous night's data until it arrives. */
export function useJudged(trainRun: string, night: Night | null): UseQueryResult<JudgedNight> {
  const [date, decision] = [night?.date ?? '', night?.decision ?? null];
  return useQuery({
    // The key contains the decision, since a night may have been read before its decision was written.
    queryKey: ['nights', trainRun, date, decision],
    queryFn: () => request<JudgedNight>(`/api/nights/${encodeURIComponent(trainRun)}/${date}`),
    enabled: night !== null,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
}

/** Card with a gate's decision and its evidence. */
export function GateCard({ night }: { readonly night: JudgedNight }): ReactElement {
  const { date, decision, gate, canary } = night;
  return (
    <section className="card gate" aria-label={`Gate of the night ${date}`}>
      <h2>Gate of {date}</h2>
      {gate !== null && <Evidence gate={gate} isBack={canary?.rolledBack === true} />}
      <p className="sentence">
        {decision ?? 'No decision: a night is judged after its last cycle, if it made a checkpoint.'}
      </p>
    </section>
  );
}

function Evidence({ gate, isBack }: { readonly gate: GateRecord; readonly isBack: boolean }): ReactElement {
  const { candidate, baseline, promoted, gain, lowerBound, pairs, judgement } = gate;
  const stays = promoted && !isBack;
  const outcome = stays ? 'promoted' : isBack ? 'rolled back' : 'not promoted';
  return (
    <>
      <p>
        <StateMark state={stays ? 'done' : 'cancelled'} /> <strong>{candidate}</strong> against{' '}
        <strong>{baseline}</strong>: {outcome}
      </p>
      <dl className="facts">
        <div>
          <dt>Gain in reward</dt>
          <dd>{gain === null ? 'unknown' : signed(gain)}</dd>
          <dd className="faint">{describeBound(gate)}</dd>
          {gain !== null && lowerBound !== null && <GainLine gain={gain} lowerBound={lowerBound} />}
        </div>
        <Cost gate={gate} />
        <div>
          <dt>Held-out questions</dt>
          <dd>{pairs}</dd>
          <dd className="faint">
            {judgement === 1 ? 'used for the first time' : `used for ${judgement} judgements so far`}
          </dd>
        </div>
      </dl>
    </>
  );
}

function describeBound({ lowerBound, judgement }: GateRecord): string {
  if (lowerBound === null) return 'too few questions for a bound';
  const sure = Number((100 * (1 - riskOf(judgement))).toPrecision(4));
  return `more than ${signed(lowerBound)} with ${sure} % confidence`;
}

function Cost({ gate: { costRatio, maxCostRatio } }: { readonly gate: GateRecord }): ReactElement {
  return (
    <div>
      <dt>Cost</dt>
      <dd>{costRatio === null ? 'unknown' : `${costRatio.toFixed(2)} ×`}</dd>
      <dd className="faint">{maxCostRatio === null ? 'no limit' : `at most ${maxCostRatio} ×`}</dd>
    </div>
  );
}

const ROOM = { width: 200, height: 24, edge: 12 } as const;

/** Draws the gain, its lower bound and the range above the gain against a line at 0; the text says the same. */
function GainLine({
  gain,
  lowerBound,
}: {
  readonly gain: number;
  readonly lowerBound: number;
}): ReactElement {
  const reach = Math.max(Math.abs(gain), Math.abs(lowerBound), 0.01) * 1.3;
  const x = (value: number): number =>
    ROOM.edge + ((value + reach) / (2 * reach)) * (ROOM.width - 2 * ROOM.edge);
  const middle = ROOM.height / 2;
  return (
    <svg className="gain" viewBox={`0 0 ${ROOM.width} ${ROOM.height}`} aria-hidden="true">
      <line className="zero" x1={x(0)} x2={x(0)} y1={2} y2={ROOM.height - 2} />
      <line className="beyond" x1={x(gain)} x2={ROOM.width - ROOM.edge / 2} y1={middle} y2={middle} />
      <line className="bound" x1={x(lowerBound)} x2={x(gain)} y1={middle} y2={middle} />
      <line className="bound" x1={x(lowerBound)} x2={x(lowerBound)} y1={middle - 5} y2={middle + 5} />
      <circle cx={x(gain)} cy={middle} r={5} />
    </svg>
  );
}
