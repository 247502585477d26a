import type { ToolAnswer } from '../protocol/tool-use';
import { bytesOf } from './records';
import { readStoredJson, type Store } from './store';

/** Folder of all calls of tools, with a folder for each run. */
export const TOOL_CALLS = 'tools/';
const SHARED = 'shared';

/** Returns the run whose call is kept under a key; null for a call of every run, and for objects of others. */
export function runOfToolCall(key: string): string | null {
  const [, runId] = /^tools\/([\da-f-]{36})\/[\da-f]{64}\.json$/.exec(key) ?? [];
  return runId ?? null;
}

/** State of a tool call. `unsent`: an attempt began but certainly sent nothing. */
type CallState =
  { readonly state: 'begun' | 'unsent' } | { readonly state: 'answered'; readonly answer: ToolAnswer };

/**
 * The state of one call of a tool, in one entry of the store: an attempt that finds a beginning without an answer knows
 * that the call may have been carried out. The first answer that is kept is the call's.
 */
export class ToolCallRecord {
  private readonly key: string;
  private was: Buffer | null = null;

  /**
   * @param runId run that makes the call; null for one that is the same in every run
   * @param callId SHA-256 of the call's place
   */
  constructor(
    private readonly store: Store,
    runId: string | null,
    callId: string,
  ) {
    this.key = `${TOOL_CALLS}${runId ?? SHARED}/${callId}.json`;
  }

  async read(): Promise<CallState | null> {
    const state = (await readStoredJson(this.store, this.key)) as CallState | null;
    this.was = state && bytesOf(state);
    return state;
  }

  /** Keeps that the call is about to be sent. Returns false if another attempt has changed its state. */
  begin(): Promise<boolean> {
    return this.change({ state: 'begun' });
  }

  /** Takes back a beginning: nothing was sent. */
  async takeBack(): Promise<void> {
    await this.change({ state: 'unsent' });
  }

  /** Keeps the answer, and returns the one that counts. */
  async answer(answer: ToolAnswer): Promise<ToolAnswer> {
    if (await this.change({ state: 'answered', answer })) return answer;
    const state = await this.read();
    if (state?.state === 'answered') return state.answer;
    return this.answer(answer);
  }

  private async change(state: CallState): Promise<boolean> {
    const bytes = bytesOf(state);
    const { was } = this;
    const isChanged =
      was === null
        ? await this.store.create(this.key, bytes)
        : await this.store.replace(this.key, bytes, was);
    if (isChanged) this.was = bytes;
    return isChanged;
  }
}
