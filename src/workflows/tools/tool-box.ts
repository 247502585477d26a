import { ActivityCancellationType, log, patched, proxyActivities } from '@temporalio/workflow';
import type { ConductorActivities } from '../../protocol/activity-contract';
import type { ResolvedRun, RunWorker } from '../../protocol/cards';
import type { ToolCard } from '../../protocol/tool-cards';
import { LIST_TOOLS } from '../../protocol/names';
import type { Text } from '../../protocol/text';
import { CALLER_TOOLS, type ListedTool, type ListedTools } from '../../protocol/tool-use';
import { readFailure } from '../../trace/events';
import { isOwnCancellation } from '../failures';
import { IN_TIME, type Limits } from '../limits';

/**
 * Tools of one run: listed once, when the first of its steps needs them, and counted over all of its steps. The caller may
 * bring other functions later, which steps are offered from their next turn on.
 */
export class ToolBox {
  private listed: Promise<ListedTools | null> | null = null;
  private cards: readonly ToolCard[];
  private made = 0;
  /** Tools that a turn is offered now; null before they are listed. */
  offered: ListedTools | null = null;
  /** Whether the caller demands a call, and none was asked for yet. */
  isCallDue: boolean;
  /** The caller let a call wait in vain: further ones would wait as long, and cost a turn each, for nobody. */
  isCallerGone = false;

  constructor(
    private readonly run: Pick<ResolvedRun, 'toolset' | 'storeId' | 'heartbeatMs'>,
    private readonly limits: Limits,
  ) {
    this.cards = run.toolset?.cards ?? [];
    this.isCallDue = this.ofCaller?.mustCall === true;
  }

  /** Calls that may still begin. */
  get callsLeft(): number {
    return Math.max(0, (this.run.toolset?.calls ?? 0) - this.made);
  }

  /** Counts a call that was asked for, made or not: the run's result holds all of them. Returns whether it may be made. */
  take(): boolean {
    const isAllowed = this.callsLeft > 0;
    this.made += 1;
    return isAllowed;
  }

  /**
   * Returns the tools of a child run. It may make half of the calls that are left, which count as made: a tree of runs
   * never makes more than its root may.
   */
  share(): ResolvedRun['toolset'] {
    const { toolset } = this.run;
    if (toolset === undefined) return undefined;
    const calls = Math.ceil(this.callsLeft / 2);
    this.made += calls;
    // Whoever demands a call means the answer of the root.
    const cards = this.cards.map((card) =>
      card.kind === 'caller' ? { ...card, mustCall: undefined } : card,
    );
    return { ...toolset, cards, calls };
  }

  cardOf({ card }: ListedTool): ToolCard | undefined {
    return this.cards.find(({ name }) => name === card);
  }

  private get ofCaller(): Extract<ToolCard, { readonly kind: 'caller' }> | undefined {
    return this.cards.find((card) => card.kind === 'caller');
  }

  /**
   * Returns the tools that a worker's card lists: a whole entry, or one tool of it.
   * @param answers whether its step writes the answer
   */
  toolsFor(worker: RunWorker, answers: boolean, { tools }: ListedTools): readonly ListedTool[] {
    const names = worker.kind === 'model' ? (worker.tools ?? []) : [];
    const isForLast = this.ofCaller?.lastStep === true;
    return tools.filter(({ card, tool }) => {
      if (card === CALLER_TOOLS && isForLast && !answers) return false;
      return names.includes(card) || names.includes(`${card}.${tool}`);
    });
  }

  /** Lists the tools of the run, which then hold for all of it; null: none could be listed. */
  list(): Promise<ListedTools | null> {
    this.listed ??= this.fetch(this.cards, null);
    return this.listed;
  }

  /** Takes the functions that the caller has by now, in place of those that it had. */
  async bring(functions: Text): Promise<void> {
    const before = await this.list();
    const { ofCaller } = this;
    if (ofCaller !== undefined && !isSameText(ofCaller.list, functions)) {
      const brought = { ...ofCaller, list: functions };
      this.cards = this.cards.map((each) => (each === ofCaller ? brought : each));
      this.listed = this.fetch([brought], before);
    }
    await this.listed;
  }

  /** Throws only the run's own cancellation: a run goes on without tools that are not listed before its time is over. */
  private async fetch(cards: readonly ToolCard[], before: ListedTools | null): Promise<ListedTools | null> {
    const { storeId, heartbeatMs } = this.run;
    try {
      const activities = proxyActivities<ConductorActivities>({
        scheduleToCloseTimeout: this.limits.timeToStart(),
        heartbeatTimeout: heartbeatMs,
        cancellationType: ActivityCancellationType.TRY_CANCEL,
        summary: 'list the tools',
      });
      const listed = await activities[LIST_TOOLS](cards, storeId, before ?? undefined);
      this.offered = listed;
      for (const problem of listed.problems) log.warn(`a tool is missing: ${problem}`);
      return listed;
    } catch (error) {
      if (isOwnCancellation(error) || !patched(IN_TIME)) throw error;
      log.warn(`tools are missing: ${readFailure(error, 'that lists them').problem.message}`);
      return before;
    }
  }
}

function isSameText(one: Text, other: Text): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether a worker may call tools in this run. */
export function hasTools(worker: RunWorker, { toolset }: Pick<ResolvedRun, 'toolset'>): boolean {
  return toolset !== undefined && worker.kind === 'model' && (worker.tools ?? []).length > 0;
}
