import type { Background } from '../protocol/parent';
import type { ResolvedRun } from '../protocol/run';
import type { Text } from '../protocol/text';
import type { Limits } from './limits';
import type { Recorder } from './recorder';
import type { Steering } from './steering';

/** What every part of a run needs to know of it. */
export interface RunContext {
  readonly question: Text;
  /** As it was resolved; what limits hold now is in `limits`. */
  readonly run: ResolvedRun;
  readonly limits: Limits;
  readonly steering: Steering;
  readonly recorder: Recorder;
  readonly seed: number | undefined;
  /** 0 for the solve that a person asked for, one more for each child below it. */
  readonly depth: number;
  /** Workflow id of the solve that a person asked for. */
  readonly rootId: string;
  /** What everybody in this solve may see. */
  readonly background: readonly Background[];
}
