import type { Context } from 'hono';
import type { Env, Gateway } from './gateway';

/**
 * Returns what logs an error of a request, with the solve and the span that the request has by then.
 * @param id solve that the request names, if it starts none
 */
export function logOf(c: Context<Env>, { say }: Pick<Gateway, 'say'>, id?: string): (line: string) => void {
  return (line) => {
    say(line, { runId: id ?? c.get('solve'), ...c.get('span') });
  };
}
