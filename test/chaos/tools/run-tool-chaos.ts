import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { draw } from '../../../src/testing/simulated-model';
import { audit } from '../audit';
import type { Kill } from '../evidence';
import type { ChaosResult } from '../run-chaos';
import { questionsOf } from '../scenario';
import { auditTools } from './audit-tools';
import { inToolWorld, type ToolVictim, type ToolWorld } from './tool-world';

export interface ToolChaosOptions {
  readonly seed: number;
  readonly solves: number;
  readonly kills: number;
  /** Path of the workflow bundle. */
  readonly bundle: string;
}

const CYCLE: readonly ToolVictim[] = ['worker', 'tools over stdio', 'tools over HTTP'];
/** Lower estimate of what a solve adds to the progress: model calls, and notes of its six calls of tools. */
const PROGRESS_PER_SOLVE = 12;
/** Share of the progress in which kills come due. */
const DISTURBED = 0.7;
/** Longest time from the progress that makes a kill due to the kill: a call takes 60 ms. */
const LATE_MS = 70;
const LOOK_MS = 5;

/** Runs solves whose workers call tools, while a seed's script kills workers and servers of tools around the calls. */
export async function runToolChaos(options: ToolChaosOptions): Promise<ChaosResult> {
  const { seed, solves, kills: planned } = options;
  const began = Date.now();
  const folder = await mkdtemp(join(tmpdir(), `tool-chaos-${seed}-`));
  const { evidence, notes } = await inToolWorld({ ...options, folder }, async (world) => {
    const none = { rss: 0, heapUsed: 0 };
    const over = new AbortController();
    const striking = strike(world, options, over.signal);
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

/** Carries out the kills of a seed as their progress is reached, until all is over. */
async function strike(
  world: ToolWorld,
  { seed, solves, kills }: ToolChaosOptions,
  over: AbortSignal,
): Promise<Kill[]> {
  const last = DISTURBED * solves * PROGRESS_PER_SOLVE;
  const planned = Array.from({ length: kills }, (_, index) => ({
    victim: CYCLE[index % CYCLE.length] ?? 'worker',
    due: 1 + Math.floor(draw(seed, 'due', index) * last),
    lateMs: draw(seed, 'late', index) * LATE_MS,
  })).sort((a, b) => a.due - b.due);
  const done: Kill[] = [];
  for (const { victim, due, lateMs } of planned) {
    while (world.progress() < due && !over.aborted) await delay(LOOK_MS);
    await delay(lateMs);
    while (!over.aborted) {
      const at = performance.timeOrigin + performance.now();
      // A server over stdio is there only while a worker uses it.
      if (await world.kill(victim)) {
        done.push({ victim, at });
        break;
      }
      await delay(LOOK_MS);
    }
  }
  return done;
}
