import { renderPlan } from '../../src/plan/render';
import type { Reply, SimulatedRequest, Simulation } from '../../src/testing';
import { diceFor } from '../world/world';
import { type Fault, FAULTS, lineOf, type Matter, moduleOf } from './faults';

// Simulated models that act as a coding agent asks them to: they read the folder, patch it and run its test by calls of
// the agent's shell. What they do follows from their skill and from the texts that they are shown, and from nothing else.

/** A simulated worker, and how often what it does is right. */
export interface Hand {
  readonly id: string;
  /** Chance that it names the right line of a fault that it reads. */
  readonly finds: Readonly<Record<Matter, number>>;
  /** Chance that a patch that it writes applies. */
  readonly patches: number;
}

/** Two who see some faults and are clumsy, and one who is deft and sees half of each. */
export const CREW: readonly Hand[] = [
  { id: 'counts', finds: { arithmetic: 0.9, bounds: 0.8, text: 0.2, order: 0.2 }, patches: 0.6 },
  { id: 'reads', finds: { arithmetic: 0.2, bounds: 0.2, text: 0.9, order: 0.8 }, patches: 0.6 },
  { id: 'codes', finds: { arithmetic: 0.5, bounds: 0.5, text: 0.5, order: 0.5 }, patches: 0.95 },
];

/** Who repairs, in every plan. */
const DEFT = 'codes';
/** Chance that the Conductor tells from a failure what its fault is about. */
const INSIGHT = 0.85;
/** Factor of the chance to find a fault for each wrong line before. */
const AGAIN = 0.5;
/** Share of the misses that a right hint spares; factor of the chance after a wrong one. */
const [LIFT, MISLED] = [0.5, 0.7];
const MOST_PATCHES = 4;

/** USD per million tokens of every model, so that cost differs by tokens alone. */
const PRICE = { input: 1, output: 4 };

const MATTERS: readonly Matter[] = ['arithmetic', 'bounds', 'text', 'order'];
const FIND = 'Find the cause of the failure.';
const REPAIR = 'Repair the module and run its test.';

/** Returns the crew and its Conductor as simulated models. @param delayMs latency of every call */
export function simulateCrew(seed: number, delayMs: number): Simulation {
  const behaviour = { price: PRICE, delayMs };
  const workers = CREW.map((hand) => {
    const answer = (request: SimulatedRequest): Reply => new Turn(seed, hand, request).take();
    return [hand.id, { ...behaviour, answer }] as const;
  });
  const conductor = { ...behaviour, answer: ({ text }: SimulatedRequest): string => planFor(seed, text) };
  return { seed, models: { ...Object.fromEntries(workers), conductor } };
}

/** Returns the plan for a failure: who sees such faults names the cause, and the deft one, who is shown it, repairs. */
function planFor(seed: number, text: string): string {
  const matter = guessOf(faultIn(text), ['conductor', seed], INSIGHT);
  const [finder = DEFT] = CREW.toSorted((a, b) => b.finds[matter] - a.finds[matter]).map(({ id }) => id);
  const find = { worker: finder, subtask: FIND, sees: [] };
  const repair = { worker: DEFT, subtask: REPAIR, sees: [0] };
  return renderPlan(
    { steps: [find, repair] },
    CREW.map(({ id }) => id),
  );
}

/** Returns what a fault is about, as one takes it who is right with this chance. */
function guessOf({ name, matter }: Fault, key: readonly (string | number)[], chance: number): Matter {
  const dice = diceFor('guess', ...key, name);
  return dice.happens(chance) ? matter : dice.pick(MATTERS.filter((each) => each !== matter));
}

/** @throws RangeError if the text is about none of the repairs */
function faultIn(text: string): Fault {
  const [, name = ''] = /Repair (\w+)\.mjs/.exec(text) ?? [];
  const fault = FAULTS.find((each) => each.name === name);
  if (fault === undefined)
    throw new RangeError(`This prompt asks for no repair of ours:\n${text.slice(-500)}`);
  return fault;
}

/** One turn of a worker, in which it either calls the agent's shell or answers. */
class Turn {
  private readonly fault: Fault;
  private readonly results: readonly string[];
  private readonly patched: number;

  constructor(
    private readonly seed: number,
    private readonly hand: Hand,
    private readonly request: SimulatedRequest,
  ) {
    const { text, exchanged = [] } = request;
    this.fault = faultIn(text);
    this.results = exchanged.flatMap((part) => (part.kind === 'result' ? [part.text] : []));
    this.patched = exchanged.filter((part) => part.kind === 'call' && isPatch(part.text)).length;
  }

  take(): Reply {
    const { text, tools = [] } = this.request;
    const shell = tools.find((name) => name === 'exec_command');
    const isFinding = text.includes(FIND) && !text.includes(REPAIR);
    if (shell === undefined) return { text: isFinding ? this.hint() : 'I cannot go on without a shell.' };
    const present = lineIn(this.results);
    if (isFinding && present !== null)
      return { text: `${CAUSE} ${moduleOf(this.fault)} must have this line:\n${this.found(0)}` };
    const next = present === null ? { cmd: 'head -n 50 *' } : this.goOn(present);
    return 'cmd' in next ? { text: '', calls: [{ name: shell, input: next }] } : next;
  }

  /** Returns the next command of a repair, or how it ended. @param present line of the module, as it is now */
  private goOn(present: string): { readonly cmd: string } | { readonly text: string } {
    const last = this.results.at(-1) ?? '';
    if (last.includes('# fail 0')) return { text: 'It is repaired: its test passes.' };
    if (last.includes('Success.'))
      return { cmd: `node --test --test-reporter=tap; cat ${moduleOf(this.fault)}` };
    const wanted = this.wanted();
    if (this.patched === MOST_PATCHES || wanted === present) return { text: 'I could not repair it.' };
    return { cmd: this.patchOf(present, wanted) };
  }

  /** Returns the line that should stand in the module, to this worker's mind: the one that it was shown, then its own. */
  private wanted(): string {
    const failed = this.results.filter((result) => result.includes('# fail 1')).length;
    const [, shown] = new RegExp(`^${CAUSE}.*\\n(.*)$`, 'm').exec(this.request.text) ?? [];
    if (shown === undefined) return this.found(failed);
    return failed === 0 ? shown : this.found(failed - 1);
  }

  private found(attempt: number): string {
    const { name, matter, right, misread } = this.fault;
    const [, hinted] = new RegExp(`^${HINT} (\\w+)`, 'm').exec(this.request.text) ?? [];
    const plain = this.hand.finds[matter];
    const helped = hinted === matter ? 1 - (1 - plain) * (1 - LIFT) : plain * MISLED;
    const chance = (hinted === undefined ? plain : helped) * AGAIN ** attempt;
    const isFound = diceFor('find', this.seed, this.hand.id, name, attempt).happens(chance);
    return lineOf(this.fault, isFound ? right : misread);
  }

  /** Returns what the failure alone suggests. */
  private hint(): string {
    const { id, finds } = this.hand;
    return `${HINT} ${guessOf(this.fault, [id, this.seed], finds[this.fault.matter])}.`;
  }

  private patchOf(present: string, wanted: string): string {
    const dice = diceFor('patch', this.seed, this.hand.id, this.fault.name, this.patched);
    // A clumsy one misquotes the line that it replaces.
    const quoted = dice.happens(this.hand.patches) ? present : present.replace('=>', '=> //');
    const patch = [
      '*** Begin Patch',
      `*** Update File: ${moduleOf(this.fault)}`,
      '@@',
      `-${quoted}`,
      `+${wanted}`,
    ];
    return [`apply_patch <<'EOF'`, ...patch, '*** End Patch', 'EOF'].join('\n');
  }
}

const CAUSE = 'Cause:';
const HINT = 'Hint: this looks like a matter of';

function isPatch(input: string): boolean {
  return input.includes('*** Begin Patch');
}

/** Returns the line of the module as it was read last; null: it was not. A refused patch quotes what it did not find. */
function lineIn(results: readonly string[]): string | null {
  const read = results.filter((result) => !result.includes('verification failed'));
  return read.flatMap((result) => result.match(/^export const .*$/gm) ?? []).at(-1) ?? null;
}
