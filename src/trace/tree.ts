import { TOPOLOGY_NAMES, topologyOf } from '../plan/topology';
import type { Call, RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { previewOf } from '../protocol/text';
import {
  CUT,
  describeCost,
  describeDuration,
  describeEstimate,
  describePlan,
  describePlanningTime,
  describeRound,
  describeRunTime,
  describeSees,
  describeTokens,
  describeUsd,
  describeWorker,
  explainStop,
  isKept,
  joinFacts,
  MARKS,
  stepStateOf,
  whoStandsIn,
} from './describe';
import {
  type Branch,
  drawTree,
  headLine,
  type Line,
  oneLine,
  type Paint,
  PLAIN,
  plainLine,
  strokeOf,
  wrap,
  wrapped,
} from './lines';
import { totalOf } from './cost';
import { describeSteered } from './steered';
import { callsOfPlan, callsOfStep, roundsOf } from './run-tree';
import { type PlacedCall, toolCallsOf } from './tool-calls';
import { describeToolCall } from './tool-lines';
import { waitsOf } from './waits';

/** Renders a run as a tree for a terminal, a child's rounds below its step. Whole texts are in the JSON format. */
export function renderTree(
  trace: SolveTrace,
  { paint = PLAIN, columns = 160 }: { paint?: Paint; columns?: number } = {},
): string {
  return drawTree(new TreeText(trace, paint).root(), columns).join('\n');
}

class TreeText {
  constructor(
    private readonly trace: SolveTrace,
    private readonly paint: Paint,
  ) {}

  root(): Branch {
    const {
      id,
      status,
      degraded,
      answerCut,
      stoppedBy,
      checkpoint,
      question,
      estimate,
      steered = [],
    } = this.trace;
    const { waitsFor, waitReason = null } = this.trace;
    const waits = waitsFor && `waits for ${waitsFor}`;
    const lost = joinFacts(degraded && 'degraded', answerCut && CUT);
    const state = joinFacts(
      status,
      waits,
      describeRunTime(this.trace),
      lost,
      stoppedBy && `stopped by ${stoppedBy}`,
    );
    return {
      line: headLine(this.paint, id, [state, describeTokens(this.trace), describeCost(this.trace)]),
      notes: [
        plainLine(previewOf(question)),
        ...this.fact('checkpoint', checkpoint),
        ...this.fact('plan', status === 'running' && estimate ? describeEstimate(estimate) : null),
        ...this.fact('because', waitReason),
        ...steered.flatMap((message) => this.fact('told', describeSteered(message))),
        ...whoStandsIn(this.trace).flatMap((line) => this.fact('degraded', line)),
        ...waitsOf(this.trace).flatMap(({ what, how }) => [
          ...this.fact('asks about', what),
          ...this.fact('to decide:', how),
        ]),
      ],
      branches: [...this.rounds(id), ...this.end()],
    };
  }

  private rounds(id: string): Branch[] {
    return roundsOf(this.trace, id).map((round) => {
      const waves = [...new Set(round.steps.map(({ wave }) => wave))].sort((a, b) => a - b);
      const [name = '', ...facts] = describeRound(round).split(' · ');
      const calls = callsOfPlan(this.trace.calls, round);
      const plan = [
        calls.at(-1)?.model ?? '',
        describePlan(round),
        kindOf(round),
        describePlanningTime(round),
        ...sumOf(calls),
      ];
      return {
        line: () => [joinFacts(this.paint.strong(name), ...facts)],
        branches: [
          {
            line: headLine(this.paint, 'Conductor', plan),
            notes: [...this.failures(calls), ...this.doubts(calls)],
          },
          ...waves.map((wave) => ({
            line: plainLine(`Wave ${wave + 1}`),
            branches: round.steps.filter((step) => step.wave === wave).map((step) => this.step(round, step)),
          })),
        ],
      };
    });
  }

  private step(round: RoundTrace, step: StepTrace): Branch {
    const { index, model, childId } = step;
    const calls = callsOfStep(this.trace.calls, round, step);
    const sees = describeSees(round.plan?.steps[index]?.sees ?? []);
    const facts = [model ?? '', sees, timeOf(step), ...sumOf(calls)];
    const head = headLine(this.paint, `${index + 1} ${describeWorker(step)}`, facts);
    const state = stepStateOf(step);
    const mark = strokeOf(state, this.paint)(MARKS[state]);
    return {
      line: (room) => {
        const [first = '', ...rest] = head(room - 2);
        return [`${mark} ${first}`, ...rest];
      },
      notes: this.story(round, step, calls),
      branches: childId === null ? [] : this.rounds(childId),
    };
  }

  private story({ plan, childId }: RoundTrace, step: StepTrace, calls: readonly Call[]): Line[] {
    const { index, error, output, thoughts, dropped, skipped = [] } = step;
    // A child's failed attempts are in its own rounds, which are drawn below.
    const own = calls.filter((call) => (call.childId ?? null) === childId);
    const told = [...own, { error }].map((each) => each.error?.message);
    const unasked = skipped.map((each) => each.error.message).filter((reason) => !told.includes(reason));
    return [
      ...this.note('subtask', plan?.steps[index]?.subtask),
      ...unasked.flatMap((reason) => this.fact('passed over', reason)),
      ...this.failures(own, error?.message),
      ...this.doubts(own),
      ...toolCallsOf(step).map((call) => this.toolCall(step, call)),
      ...this.fact('error', error?.message),
      ...this.note('thoughts', thoughts && previewOf(thoughts)),
      ...this.note('output', output && previewOf(output)),
      ...this.fact('dropped', dropped.join(', ')),
    ];
  }

  /** Returns a call of a tool in one line, with the reason in full if it failed. */
  private toolCall(step: StepTrace, call: PlacedCall): Line {
    const { worker, outcome } = call;
    const label = worker === step.worker ? 'called' : `${worker} called`;
    return (room) => {
      const text = `${label} ${describeToolCall(call, room - label.length - 1)}`;
      const isGood = outcome === 'ok' || outcome === null;
      const [first = '', ...rest] = isGood ? [oneLine(text, room)] : wrap([text], room);
      return [`${this.paint.faint(label)}${first.slice(label.length)}`, ...rest];
    };
  }

  /** Lists failed attempts, consecutive equal reasons once: `attempt 2-5`. */
  private failures(calls: readonly Call[], toldBelow?: string): Line[] {
    const reasons = calls.map(({ error }) =>
      error === null || error.message === toldBelow ? '' : `${error.type} ${error.message}`,
    );
    return reasons.flatMap((reason, index) => {
      if (reason === '' || reason === reasons[index - 1]) return [];
      const next = reasons.findIndex((other, later) => later > index && other !== reason);
      const last = next === -1 ? reasons.length : next;
      return this.fact(`attempt ${index + 1}${last - index > 1 ? `-${last}` : ''}`, reason);
    });
  }

  private doubts(calls: readonly Call[]): Line[] {
    return calls.flatMap(({ nanoUsd, reportedNanoUsd }) => {
      if (reportedNanoUsd === undefined || nanoUsd === null) return [];
      const reported = `the provider reports ${describeUsd(reportedNanoUsd / 1e9)}, less than half of it`;
      return this.fact('cost', `${describeUsd(nanoUsd / 1e9)} by its price; ${reported}`);
    });
  }

  private end(): Branch[] {
    const { answer, error, stoppedBy } = this.trace;
    const { bad, busy, good } = this.paint;
    const branch = (title: string, notes: readonly Line[]): Branch => ({ line: () => [title], notes });
    const [stop = '', ...remedies] = stoppedBy === null ? [] : explainStop(stoppedBy, this.trace);
    return [
      ...(stoppedBy === null ? [] : [branch(busy(stop), remedies.map(wrapped))]),
      ...(error === null ? [] : [branch(bad(`Error ${error.type}`), [wrapped(error.message)])]),
      ...(answer === null ? [] : [branch(good('Answer'), [plainLine(previewOf(answer))])]),
    ];
  }

  /** Returns free text, clipped to one line. */
  private note(label: string, text: string | null | undefined): Line[] {
    if (!text) return [];
    return [(room) => [`${this.paint.faint(label)} ${oneLine(text, room - label.length - 1)}`]];
  }

  /** Returns a fact in full, in as many lines as it takes. */
  private fact(label: string, text: string | null | undefined): Line[] {
    if (!text) return [];
    return [
      (room) => {
        const [first = '', ...rest] = wrap([`${label} ${text}`], room);
        return [`${this.paint.faint(label)}${first.slice(label.length)}`, ...rest];
      },
    ];
  }
}

function timeOf(step: StepTrace): string {
  const { startedAt, endedAt } = step;
  if (isKept(step)) return 'kept';
  return startedAt === null || endedAt === null ? '' : describeDuration(startedAt, endedAt);
}

function sumOf(calls: readonly Call[]): string[] {
  const total = totalOf(calls);
  return calls.length === 0 ? [] : [describeTokens(total), describeCost(total)];
}

function kindOf({ plan }: RoundTrace): string {
  const kind = plan === null ? null : topologyOf(plan);
  return kind === null || kind === 'single' ? '' : TOPOLOGY_NAMES[kind];
}
