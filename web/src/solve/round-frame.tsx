import { type ReactElement, useState } from 'react';
import type { Plan } from '../../../src/plan/plan';
import { counted, describeUsd, joinFacts } from '../../../src/trace/describe';
import { callsOfPlan, isReview, isUnbegun, pathOf, roundsOf } from '../../../src/trace/run-tree';
import type { Round, Solve } from '../api/types';
import { Problem } from '../parts/notice';
import { Approval } from './approval';
import { CallApprovals } from './call-approval';
import { ConductorReplies } from './conductor-replies';
import { useShown } from './context';
import { EditPlan } from './edit-plan';
import { Failures } from './failures';
import { PlanGraph } from './plan-graph';
import { PlanList } from './plan-list';
import { PlanUnderWay } from './plan-under-way';

interface RoundFrameProps {
  readonly round: Round;
  /** Number within its run, from 1. */
  readonly number: number;
}

/** One round: its plan as a graph, the Conductor's decision, and the plans of steps that it gave to itself. */
export function RoundFrame({ round, number }: RoundFrameProps): ReactElement {
  const { solve, which } = useShown();
  const waits = waitsForPerson(solve, round);
  const children = round.steps.filter(({ childId }) => childId !== null);
  return (
    <section
      className={waits ? 'round asks' : 'round'}
      aria-label={`${pathOf(solve, round)}${titleOf(round, number)}${which}`}
    >
      <header>
        <h2>{titleOf(round, number)}</h2>
        <span className="faint">{describePlanning(solve.calls, round)}</span>
      </header>
      {round.error !== undefined && <Problem>{round.error.message}</Problem>}
      {round.plan !== null && <PlanOrDraft round={round} plan={round.plan} waits={waits} />}
      {isBeingPlanned(solve, round) && <PlanUnderWay childId={round.childId} round={round.round} />}
      <ConductorReplies round={round} />
      {children.map(({ childId, index }) => (
        <ChildRounds key={index} childId={childId ?? ''} step={index} />
      ))}
    </section>
  );
}

/** Whether the Conductor is writing the plan of a round. */
function isBeingPlanned({ status }: Solve, { plan, decision }: Round): boolean {
  return status === 'running' && plan === null && decision !== 'failed';
}

function waitsForPerson({ status, waitsFor }: Solve, round: Round): boolean {
  return status === 'running' && waitsFor === 'approval' && isUnbegun(round);
}

interface PlanProps {
  readonly round: Round;
  readonly plan: Plan;
  readonly waits: boolean;
}

/** A plan, or its draft while it waits for approval and someone edits it. */
function PlanOrDraft({ round, plan, waits }: PlanProps): ReactElement {
  const { view } = useShown();
  const [isEdited, setEdited] = useState(false);
  if (plan.steps.length === 0) return <p className="faint">The answer stands: no more steps.</p>;
  if (waits && isEdited)
    return (
      <EditPlan
        round={round}
        plan={plan}
        onEnd={() => {
          setEdited(false);
        }}
      />
    );
  return (
    <>
      {waits && (
        <Approval
          round={round}
          plan={plan}
          onEdit={() => {
            setEdited(true);
          }}
        />
      )}
      <CallApprovals round={round} />
      {view === 'list' ? <PlanList plan={plan} round={round} /> : <PlanGraph plan={plan} round={round} />}
      <Failures round={round} />
    </>
  );
}

/** Plans of a step given to the Conductor itself; closed unless opened or one waits, since they may nest deeply. */
function ChildRounds({
  childId,
  step,
}: {
  readonly childId: string;
  readonly step: number;
}): ReactElement | null {
  const { solve } = useShown();
  const [chosen, choose] = useState<boolean | null>(null);
  const rounds = roundsOf(solve, childId);
  const isOpen = chosen ?? rounds.some((round) => waitsForPerson(solve, round));
  if (rounds.length === 0) return null;
  return (
    <details
      className="child"
      open={isOpen}
      onToggle={(event) => {
        choose(event.currentTarget.open);
      }}
    >
      <summary>
        Step {step + 1} has a team of its own: {counted(rounds.length, 'round')}
      </summary>
      {isOpen &&
        rounds.map((round, index) => (
          <RoundFrame key={`${round.childId} ${round.round}`} round={round} number={index + 1} />
        ))}
    </details>
  );
}

function titleOf(round: Round, number: number): string {
  return isReview(round) ? `Round ${number}, a review` : `Round ${number}`;
}

const DECISIONS = {
  accepted: 'the answer was accepted',
  revised: 'the answer was revised',
  failed: 'it failed',
} as const;

function describePlanning(calls: Parameters<typeof callsOfPlan>[0], round: Round): string {
  const own = callsOfPlan(calls, round);
  const usd = own.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0) / 1e9;
  const repairs = own.filter(({ purpose }) => purpose === 'repair').length;
  return joinFacts(
    round.isGiven === true
      ? 'the plan was given'
      : own.length > 0 && `planned by ${own.at(-1)?.model ?? 'the Conductor'}`,
    usd > 0 && describeUsd(usd),
    repairs > 0 && `repaired ${counted(repairs, 'time')}`,
    round.decision !== null && DECISIONS[round.decision],
  );
}
