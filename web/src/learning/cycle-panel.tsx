import { type ReactElement, useEffect, useRef, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { percent, plain } from '../../../src/report/chart';
import { meanOf } from '../../../src/statistics/statistics';
import { groupBy, tally } from '../../../src/statistics/tally';
import { TOPOLOGY_NAMES } from '../../../src/plan/topology';
import { counted, describeUsd, joinFacts } from '../../../src/trace/describe';
import type { CycleMetrics } from '../../../src/training/records';
import { request } from '../api/request';
import type { Cycle, CycleGroup } from '../api/types';
import { Empty, Problem } from '../parts/notice';
import { PlanSteps } from '../parts/plan-steps';
import { showText } from '../solve/show-text';
import { Verdicts } from './verdicts';

interface CyclePanelProps {
  readonly trainRun: string;
  readonly cycle: number;
  readonly onClose: () => void;
}

const SHOWN_AT_FIRST = 6;

/** Panel with what a cycle tried: each question with its plans side by side, best first. */
export function CyclePanel({ trainRun, cycle, onClose }: CyclePanelProps): ReactElement {
  const { data, error } = useQuery({
    queryKey: ['cycle', trainRun, cycle],
    queryFn: () => request<Cycle>(`/api/nights/${encodeURIComponent(trainRun)}/cycles/${cycle}`),
  });
  const panel = useRef<HTMLElement>(null);
  // Moves keyboard focus into the panel and, when it closes, back to where it was.
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <section
      className="card cycle"
      ref={panel}
      tabIndex={-1}
      aria-label={`Cycle ${cycle}`}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onClose();
      }}
    >
      <div className="line spread">
        <h2>Cycle {cycle}</h2>
        <button type="button" className="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      {error !== null && <Problem>This cycle cannot be shown: {error.message}</Problem>}
      {data?.metrics && <Summary metrics={data.metrics} />}
      {data !== undefined && <Groups key={cycle} groups={data.groups} />}
    </section>
  );
}

function Groups({ groups }: { readonly groups: readonly CycleGroup[] }): ReactElement {
  const [isWhole, showAll] = useState(false);
  const shown = isWhole ? groups : groups.slice(0, SHOWN_AT_FIRST);
  if (groups.length === 0) return <Empty title="No groups left">They were removed from the store.</Empty>;
  return (
    <>
      {shown.map((group) => (
        <Group key={`${group.draw}-${group.round}`} group={group} />
      ))}
      {shown.length < groups.length && (
        <button
          type="button"
          onClick={() => {
            showAll(true);
          }}
        >
          Show all {groups.length} groups
        </button>
      )}
    </>
  );
}

function Summary({ metrics }: { readonly metrics: CycleMetrics }): ReactElement {
  const { rewardMean, rewardSpread, formatRate, planLength, usd, collapse } = metrics;
  const sharesOf = (shares: Readonly<Record<string, number>>, nameOf = (name: string) => name): string =>
    Object.entries(shares)
      .sort(([, one], [, other]) => other - one)
      .map(([name, share]) => `${nameOf(name)} ${percent(share)}`)
      .join(', ');
  const names: Readonly<Record<string, string>> = TOPOLOGY_NAMES;
  return (
    <>
      <p>
        {joinFacts(
          `reward ${plain(rewardMean)} ± ${plain(rewardSpread)}`,
          `${percent(formatRate)} of replies were plans`,
          `${plain(planLength)} steps on average`,
          usd !== null && `${describeUsd(usd)} a rollout`,
        )}
      </p>
      <p className="faint">
        Workers: {sharesOf(metrics.workerShares)}. Shapes:{' '}
        {sharesOf(metrics.topologyShares, (name) => names[name] ?? name)}.
      </p>
      {collapse !== null && <Problem>The policy may have collapsed: {collapse}.</Problem>}
    </>
  );
}

type Rollouts = readonly CycleGroup['rollouts'][number][];

function Group({ group }: { readonly group: CycleGroup }): ReactElement {
  const { draw, round, question, text, topic, rollouts, checkpoint } = group;
  // A trained policy writes the same plan many times, so that equal plans are shown once.
  const folds: Rollouts[] = [
    ...groupBy(rollouts, ({ plan, problem }) => JSON.stringify([plan, problem])).values(),
  ];
  const rank = (fold: Rollouts): number => rewardOf(fold) ?? -Infinity;
  folds.sort((one, other) => rank(other) - rank(one) || other.length - one.length);
  const reward = rewardOf(rollouts);
  return (
    <article className="group" aria-label={`Group ${draw + 1}`}>
      <h3>
        {joinFacts(
          question,
          topic,
          round > 0 && `round ${round + 1}`,
          reward === null ? 'no reward' : `reward ${plain(reward)}`,
          `plans by ${checkpoint}`,
        )}
      </h3>
      {text !== null && (
        <p className="asked" dir="auto">
          {showText(text)}
        </p>
      )}
      <div className="folds">
        {folds.map((fold, index) => (
          <Fold key={index} rollouts={fold} />
        ))}
      </div>
    </article>
  );
}

const MOST_ANSWERS = 3;

/** Rollouts of the same plan. */
function Fold({ rollouts }: { readonly rollouts: Rollouts }): ReactElement {
  const reward = rewardOf(rollouts);
  const answers = Object.entries(tally(rollouts.flatMap(({ answer }) => answer ?? []))).sort(
    ([, one], [, other]) => other - one,
  );
  const faults = new Set(rollouts.flatMap(({ invalidBecause }) => invalidBecause ?? []));
  return (
    <div className="fold">
      <p className="line spread">
        <strong>{reward === null ? 'no reward' : plain(reward)}</strong>
        <span className="faint">{counted(rollouts.length, 'time')}</span>
        <Verdicts verdicts={rollouts.map(({ verdict }) => verdict)} />
      </p>
      <PlanSteps plan={rollouts[0]?.plan ?? null} problem={rollouts[0]?.problem} />
      {answers.slice(0, MOST_ANSWERS).map(([answer, count]) => (
        <p key={answer} className="answer-line" dir="auto">
          → {showText(answer)} {count > 1 && <span className="faint">({count} times)</span>}
        </p>
      ))}
      {answers.length > MOST_ANSWERS && (
        <p className="faint">→ {counted(answers.length - MOST_ANSWERS, 'other answer')}</p>
      )}
      {[...faults].map((fault) => (
        <p key={fault} className="faint">
          Not counted: {showText(fault)}
        </p>
      ))}
    </div>
  );
}

function rewardOf(rollouts: Rollouts): number | null {
  return meanOf(rollouts.flatMap(({ reward }) => reward ?? []));
}
