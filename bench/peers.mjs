import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/**
 * Installs LangGraph.js beside the benchmark if it is missing. If that fails, the benchmark goes on without it.
 *
 * Its checkpointer needs better-sqlite3, a native package: prebuilt from GitHub, else compiled locally.
 */
export async function installPeers() {
  if (await hasPeers()) return;
  console.error('Installing LangGraph.js for the comparison; compiling its SQLite may take minutes …');
  const options = { stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' };
  const { status, error } = spawnSync('npm', ['ci', '--prefix', HERE, '--loglevel=error'], options);
  if (await hasPeers()) return;
  const outcome = error ? `could not be run (${error.message})` : `ended with ${status}`;
  console.error(
    `LangGraph.js is left out: "npm ci --prefix bench" ${outcome}, and its SQLite cannot be opened. ` +
      'It needs the registry, and a prebuilt better-sqlite3 from GitHub or Python, make and a C++ compiler.',
  );
}

/** Returns whether LangGraph.js and its SQLite can be used here. */
export async function hasPeers() {
  try {
    const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite');
    SqliteSaver.fromConnString(':memory:').db.close();
    return true;
  } catch {
    return false;
  }
}
