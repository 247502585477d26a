import type { Plan } from '../../plan/plan';
import type { Problem, SolveResult } from '../../protocol/solve';
import type { CallerCall } from '../tools/caller-calls';
import type { ToolFields } from './tool-news';

/** Where in a run something happens: the place of a plan. */
export interface RoundPlace {
  /** Child run in which this happens; null: the run itself. */
  readonly childId: string | null;
  readonly round: number;
}

/** Place of a step of a plan. */
export interface StepPlace extends RoundPlace {
  /** Index in the plan, from 0. */
  readonly step: number;
}

interface EventFields {
  planned: RoundPlace & { readonly depth: number; readonly plan: Plan };
  /**
   * The Conductor writes the plan of this round, thoughts and all. `offset` is in UTF-16 units of this attempt; each
   * attempt begins anew. What is lost is not sent again: `planned` has the plan.
   */
  planning: RoundPlace & { readonly attempt: number; readonly offset: number; readonly delta: string };
  stepStarted: StepPlace & { readonly worker: string; readonly model: string | null };
  /** `offset` is in UTF-16 units of this attempt; `provisional`: a review may still change this answer. */
  text: StepPlace & {
    readonly attempt: number;
    readonly offset: number;
    readonly delta: string;
    readonly provisional?: true;
  };
  /** Thoughts of the model, before its text. `offset` counts the thoughts of this attempt alone. */
  thoughts: StepPlace & { readonly attempt: number; readonly offset: number; readonly delta: string };
  /**
   * Discard the text and thoughts received so far: a new attempt begins, which does not continue them, or the text
   * turned out to be thoughts, which come again. `isCommentary`: it was complete, and said before calls of tools.
   */
  restarted: StepPlace & { readonly attempt: number; readonly isCommentary?: true };
  /** A call of a tool begins; `arguments` is the beginning of their JSON, `ordinal` counts the calls of a turn. */
  toolCalled: StepPlace & ToolFields<'toolCalled'>;
  /** `ms`: null for a call that was never sent, of which no beginning is told. */
  toolEnded: StepPlace & ToolFields<'toolEnded'>;
  stepEnded: StepPlace & { readonly worker: string; readonly error: Problem | null };
  reviewed: RoundPlace & { readonly decision: NonNullable<SolveResult['rounds'][number]['decision']> };
  waiting:
    | { readonly for: 'approval' }
    /** A step fits the limits only once others release what they do not use, or a limit is raised. */
    | { readonly for: 'limit'; readonly childId: string | null }
    | {
        readonly for: 'rate';
        readonly childId: string | null;
        readonly reason: string;
        readonly until: string;
      };
  /** The run waits for results of these calls, which `submit` gives it. Each call is told once. */
  callsWaiting: { readonly calls: readonly CallerCall[] };
  ended: Pick<SolveResult, 'status' | 'answer' | 'answerCut' | 'degraded' | 'stoppedBy' | 'error'>;
}

/** Event of a run, before it has its place in the stream. */
export type LiveHappening = {
  [Kind in keyof EventFields]: Readonly<{ kind: Kind }> & EventFields[Kind];
}[keyof EventFields];

/** Event of a run. `cursor` is a position in its stream: the stream continues with the first event after it. */
export type LiveEvent = LiveHappening & { readonly cursor: string };
