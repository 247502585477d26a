import type { Context } from 'hono';
import { reasonOf } from '../../errors';
import { isRecord } from '../../plan/validate';
import { CONDUCTOR_MODEL } from '../../protocol/rights';
import { unlessAborted } from '../../runtime/turns';
import { requireSolve } from '../api/solves';
import { stopping } from '../closing';
import type { App, Env, Gateway } from '../gateway';
import { logOf } from '../log-of';
import { type ConsultedTeam, importMcp, serverOfTeam } from '../mcp/team-server';
import { asRefusal, badRequest, Refusal } from '../refusal';
import { sourceOf } from '../solve/answer';
import { readModel, withModel } from '../solve/request-of';
import { startSolve, whileAwaited } from '../solve/start-solve';

/** https://modelcontextprotocol.io: Streamable HTTP, without sessions, so that any gateway answers any request. */
export function addMcp(app: App, gateway: Gateway): void {
  app.all('/mcp', async (c) => {
    const parsedBody = c.req.method === 'POST' ? await readMessage(c) : undefined;
    const sdk = await importMcp().catch((error: unknown) => {
      throw new Refusal(501, `this gateway does not speak it: ${reasonOf(error)}`, {
        reason: 'not_installed',
      });
    });
    const handler = sdk.createMcpHandler(() => serverOfTeam(sdk, teamOf(c, gateway)), {
      // A stream begins at once, and is kept alive while a solve runs.
      responseMode: 'sse',
      // The list of tools never changes.
      maxSubscriptions: 0,
    });
    return handler.fetch(c.req.raw, { parsedBody });
  });
}

/** Reads one message. A list of them would start many solves by what counts as one request. */
async function readMessage(c: Context<Env>): Promise<unknown> {
  const message: unknown = await c.req.json().catch(() => null);
  if (isRecord(message)) return message;
  throw badRequest('the request is no message of JSON-RPC: send one JSON object', '');
}

function teamOf(c: Context<Env>, gateway: Gateway): ConsultedTeam {
  const { config, conductor, streams, closing } = gateway;
  const key = c.get('key');
  return {
    start: async (asked) => {
      // Before the start: a refused request must cost nothing.
      const tellSource = streams.open(key, c.env.outgoing);
      const request = withModel(readModel(CONDUCTOR_MODEL, key, config), asked);
      const started = await whileAwaited(c, gateway, (traceparent) =>
        startSolve(c, gateway, { ...request, traceparent }, { model: CONDUCTOR_MODEL }),
      );
      tellSource(sourceOf(gateway, started.id));
      return { ...started, result: () => unlessAborted(closing.over, started.result()) };
    },
    follow: (id, signal) => conductor.stream(id, { signal: AbortSignal.any([signal, closing.over]) }),
    read: async (id) => {
      await requireSolve(gateway, key, id);
      return conductor.trace(id);
    },
    explain: (error) => {
      const isStopping = closing.over.aborted;
      const refusal = isStopping ? stopping() : asRefusal(error, logOf(c, gateway));
      c.set('refused', refusal);
      // The tool's answer says how to go on.
      return isStopping ? 'this gateway is stopping' : refusal.message;
    },
  };
}
