import type { SolveResult } from '../../protocol/solve';
import { type PlacedCall, toolCallsOf } from '../../trace/tool-calls';

type Step = SolveResult['rounds'][number]['steps'][number];

/** What an event says of a call of a tool. */
type ToolHappening = Readonly<Pick<PlacedCall, 'worker' | 'turn' | 'ordinal' | 'name'>> &
  (
    | { readonly kind: 'toolCalled'; readonly arguments: string }
    | {
        readonly kind: 'toolEnded';
        readonly outcome: NonNullable<PlacedCall['outcome']>;
        /** null: it was never sent. */
        readonly ms: number | null;
      }
  );
export type ToolFields<Kind extends ToolHappening['kind']> = Omit<
  Extract<ToolHappening, { kind: Kind }>,
  'kind'
>;

/** An event of a call, and what is known of the step's calls once it is told. */
interface ToolNews {
  /** When it happened; empty if nobody knows. */
  readonly at: string;
  /** Which of the step's calls it is about. */
  readonly index: number;
  readonly mark: 'c' | 'e';
  readonly event: ToolHappening;
}

const UNTOLD = '.';
const ARGUMENT_CHARACTERS = 200;

/**
 * Returns what is still to be told of a step's calls of tools, in the order in which it happened.
 * @param told a letter for each call whose beginning or end was told: `c` or `e`
 */
export function toolNewsOf(step: Step, told = ''): ToolNews[] {
  const news = toolCallsOf(step).flatMap((call, index): ToolNews[] => {
    const { worker, turn, ordinal, name, outcome, startedAt, endedAt } = call;
    const place = { worker, turn, ordinal, name };
    const known = told[index] ?? UNTOLD;
    const all: ToolNews[] = [];
    if (startedAt !== null && known === UNTOLD) {
      const event = { kind: 'toolCalled' as const, ...place, arguments: clip(call.arguments) };
      all.push({ at: startedAt, index, mark: 'c', event });
    }
    if (outcome !== null && known !== 'e') {
      const ms = startedAt === null || endedAt === null ? null : msBetween(startedAt, endedAt);
      const event = { kind: 'toolEnded' as const, ...place, outcome, ms };
      all.push({ at: endedAt ?? startedAt ?? '', index, mark: 'e', event });
    }
    return all;
  });
  return news.sort((one, other) => one.at.localeCompare(other.at));
}

/** Returns what is known once this was told. */
export function withNews(told = '', { index, mark }: ToolNews): string {
  const known = told.padEnd(index + 1, UNTOLD);
  return known.slice(0, index) + mark + known.slice(index + 1);
}

function msBetween(startedAt: string, endedAt: string): number {
  return Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
}

/** Clips a text, and never within a character. */
function clip(text: string): string {
  if (text.length <= ARGUMENT_CHARACTERS) return text;
  return `${text.slice(0, ARGUMENT_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
