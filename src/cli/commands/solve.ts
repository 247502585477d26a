import { checkQuestion } from '../../client/check-question';
import type { SolveRequest } from '../../client/conductor-client';
import type { TemporalServer } from '../../local/temporal-server';
import type { Config } from '../../pool/config-schema';
import { attachServer } from '../attach';
import { EXIT, type ExitCode } from '../exit-code';
import { durationMs } from '../../pool/duration';
import { followRun } from '../follow-run';
import { heartbeatOn } from '../heartbeat';
import { listenForInterruption } from '../interruption';
import { loadServable, loadSettings } from '../load-settings';
import { openSession } from '../open-session';
import { openWorkerSession } from '../open-worker-session';
import { printResult } from '../print-result';
import { readQuestion } from '../read-question';
import { sayHowToComeBack, sayUnfinished } from '../say-runs';
import { print, say } from '../terminal';

/** The options of `solve` as the command line gives them. */
export interface SolveOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly seed?: number;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Solves one question with a worker of its own, or hands it to the workers that are there. */
export async function solve(argument: string, options: SolveOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const load = options.detach === true ? loadSettings : loadServable;
  const config = await load(options.config, poolOf(options));
  const question = await readQuestion(argument);
  checkQuestion(question);
  const request = requestOf(question, options);
  if (options.detach === true) return detach(config, request);

  const server = await attachServer(config);
  const session = await openWorkerSession(server, config, { graceMs: 0 });
  try {
    await sayUnfinished(session, config);
    interruption.throwIfAborted();
    const { id } = await session.conductor.start(timed(request, server, config));
    const result = await followRun(session, id, interruption);
    if (result !== undefined) return await printResult(result, options.json === true);
    sayHowToComeBack(id);
    return EXIT.interrupted;
  } finally {
    await session.close();
  }
}

/** Starts the run and leaves: the id goes to stdout, for scripts. */
async function detach(config: Config, request: SolveRequest): Promise<ExitCode> {
  const server = await attachServer(config, { outliving: true });
  const session = await openSession(server, config);
  try {
    const { id } = await session.conductor.start(timed(request, server, config));
    await print(id);
    say(`Follow it with: temporal-conductor watch ${id}`);
    return EXIT.answered;
  } finally {
    await session.close();
  }
}

function requestOf(question: string, options: SolveOptions): SolveRequest {
  const { seed } = options;
  return { question, pool: poolOf(options), ...(seed !== undefined && { seed }) };
}

function poolOf({ allow, deny }: SolveOptions): { allow?: string[]; deny?: string[] } {
  return { ...(allow && { allow: [...allow] }), ...(deny && { deny: [...deny] }) };
}

function timed(request: SolveRequest, server: TemporalServer, config: Config): SolveRequest {
  return { ...request, heartbeatMs: durationMs(heartbeatOn(server, config)) };
}
