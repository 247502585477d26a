import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audit } from '../audit';
import type { ChaosResult } from '../run-chaos';
import { questionsOf } from '../scenario';
import { strike } from '../strike';
import { auditTools } from './audit-tools';
import { inToolWorld, type ToolVictim } from './tool-world';

export interface ToolChaosOptions {
  readonly seed: number;
  readonly solves: number;
  readonly kills: number;
  /** Path of the workflow bundle. */
  readonly bundle: string;
}

const CYCLE: readonly [ToolVictim, ...ToolVictim[]] = ['worker', 'tools over stdio', 'tools over HTTP'];
/** Lower estimate of what a solve adds to the progress: model calls, and notes of its six calls of tools. */
const PROGRESS_PER_SOLVE = 12;
/** Share of the progress in which kills come due. */
const DISTURBED = 0.7;
/** Longest time from the progress that makes a kill due to the kill: a call takes 60 ms. */
const LATE_MS = 70;

/** Runs solves whose workers call tools, while a seed's script kills workers and servers of tools around the calls. */
export async function runToolChaos(options: ToolChaosOptions): Promise<ChaosResult> {
  const { seed, solves, kills: planned } = options;
  const began = Date.now();
  const folder = await mkdtemp(join(tmpdir(), `tool-chaos-${seed}-`));
  const { evidence, notes } = await inToolWorld({ ...options, folder }, async (world) => {
    const none = { rss: 0, heapUsed: 0 };
    const over = new AbortController();
    const last = DISTURBED * solves * PROGRESS_PER_SOLVE;
    const struck = { seed, kills: planned, cycle: CYCLE, last, lateMs: LATE_MS, ...world };
    const striking = strike(struck, over.signal);
    const runs = await world.ask(questionsOf(seed, solves));
    over.abort();
    const kills = await striking;
    const memory = { before: none, after: none };
    return {
      evidence: { ...(await world.leavings(runs)), memory, kills, plannedKills: planned },
      notes: world.notes(),
    };
  });
  const findings = [...audit(evidence), ...auditTools(evidence, notes)];
  const isClean = findings.length === 0;
  if (isClean) await rm(folder, { recursive: true, force: true });
  return { evidence, findings, folder: isClean ? null : folder, tookMs: Date.now() - began };
}
