import { join } from 'node:path';
import { openBare } from './bare.mjs';
import { hasPeers } from './peers.mjs';
import { callsTo, plainProgram } from './plain.mjs';
import { FOUR_CALLS } from './plans.mjs';
import { openSolver, spawnProviders } from './setting.mjs';

/**
 * Calls `measure` with programs that make the same four calls to the same providers, all in this process: `plain`,
 * `langGraph` (if installed), `bare` Temporal and `solve`. Each ran once, so that loading is not measured.
 */
export async function withContenders(server, delayMs, measure) {
  const name = `contenders-${delayMs}`;
  const providers = await spawnProviders({ delayMs, answerBytes: 1000, plan: FOUR_CALLS });
  const solver = await openSolver(server, providers.url, name);
  const bare = await openBare(server, `${name}-bare`, { ask: callsTo(providers.url) });
  const langGraph = await langGraphOn(providers.url, join(server.folder, `${name}.db`));
  const programs = {
    plain: plainProgram(providers.url),
    ...(langGraph && { langGraph: langGraph.run }),
    bare: bare.run,
    solve: () => solveWhole(solver.conductor),
  };
  for (const program of Object.values(programs)) await program();
  try {
    return await measure(programs);
  } finally {
    langGraph?.close();
    await bare.close();
    await solver.close();
    await providers.close();
  }
}

/** Throws if a solve fails, since a failed one would count as fast. The other programs throw by themselves. */
async function solveWhole(conductor) {
  const { id, status, degraded } = await conductor.solve({ question: 'How fast?' });
  if (status !== 'completed' || degraded) throw new Error(`${id} ended as ${status}, degraded: ${degraded}`);
}

async function langGraphOn(url, file) {
  if (!(await hasPeers())) return undefined;
  const { openLangGraph } = await import('./lang-graph.mjs');
  return openLangGraph(url, file);
}
