import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * Where downloads are kept for this user, whatever folder a command runs in: `CONDUCTOR_CACHE`, else
 * `$XDG_CACHE_HOME/temporal-conductor`, else `~/.cache/temporal-conductor`.
 *
 * A relative `XDG_CACHE_HOME` is ignored, as the XDG Base Directory Specification demands.
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env.CONDUCTOR_CACHE) return env.CONDUCTOR_CACHE;
  const base =
    env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : join(homedir(), '.cache');
  return join(base, 'temporal-conductor');
}
