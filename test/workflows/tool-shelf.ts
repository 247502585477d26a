import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigInput } from '../../src';
import type { Reply, SimulatedRequest } from '../../src/testing';
import { openStage, type Stage, step } from './stage';

/** The program that serves the tools. */
export const SERVER = join(__dirname, '../support/tools-server.cjs');
export const SECRET = 'tool-secret-9f86d081884c7d65';

export const TOOLS = [
  'look_up',
  'order',
  'secret',
  'huge',
  'broken',
  'picture',
  'never',
  'die',
  'pay',
  'read_slowly',
];

type WorkerInput = ConfigInput['workers'][number];
/** Changes the card of the worker with tools, given the providers' URL. */
type Configured = (worker: WorkerInput, url: string) => object;

/** A stage whose worker `a` has the tools of a real server. */
function openTooled(
  changes: Partial<ConfigInput> = {},
  configured: Configured = (worker) => worker,
): Promise<Stage> {
  return openStage({
    simulation: { fallback: { price: { input: 2, output: 10 } } },
    config: {
      ...changes,
      tools: {
        shelf: {
          mcp: { command: [process.execPath, SERVER], env: ['TOOLS_LOG', 'TOOLS_SECRET'] },
          allow: TOOLS,
          repeatable: ['look_up', 'read_slowly'],
          timeout: '30s',
        },
        hasty: { mcp: { command: [process.execPath, SERVER] }, allow: ['never'], timeout: '1s' },
        ...changes.tools,
      },
    },
    configure: (config, url) => ({
      ...config,
      workers: config.workers.map((worker, index) =>
        index === 0
          ? ({
              ...configured(worker, url),
              tools: ['shelf', 'hasty', ...Object.keys(changes.tools ?? {})],
              fallback: ['b'],
            } as WorkerInput)
          : worker,
      ),
    }),
  });
}

/** What a test of tools uses: its stage once it has opened one, and what the worker and the server of tools saw. */
export interface ToolShelf {
  readonly stage: Stage;
  /** The worker's requests since the stage was opened. */
  readonly seen: SimulatedRequest[];
  readonly open: (changes?: Partial<ConfigInput>, configured?: Configured) => Promise<void>;
  /** Makes the worker answer with these replies, one a turn, and notes what it was sent. */
  readonly play: (...replies: readonly (Reply | string)[]) => void;
  /** Returns a line for each call that reached the server of tools. */
  readonly called: () => string[];
  /** Returns what the model was told of its last calls. */
  readonly told: (turn?: number) => string[];
}

/** Gives each test stages of its own, which are closed after it. */
export function useToolShelf(): ToolShelf {
  const opened: Stage[] = [];
  const seen: SimulatedRequest[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));
  const shelf: ToolShelf = {
    get stage() {
      const stage = opened.at(-1);
      if (stage === undefined) throw new Error('the test has opened no stage');
      return stage;
    },
    seen,
    async open(changes, configured) {
      const stage = await openTooled(changes, configured);
      opened.push(stage);
      process.env.TOOLS_LOG = join(stage.folder, 'calls.log');
      process.env.TOOLS_SECRET = SECRET;
      stage.plan([step('a', 'Look it up.')]);
      seen.length = 0;
    },
    play(...replies) {
      shelf.stage.providers.answer('a', (request) => {
        seen.push(request);
        return replies[Math.min(seen.length, replies.length) - 1] ?? '';
      });
    },
    called() {
      try {
        return readFileSync(process.env.TOOLS_LOG ?? '', 'utf8')
          .trim()
          .split('\n');
      } catch {
        return [];
      }
    },
    told(turn = seen.length - 1) {
      return (seen[turn]?.exchanged ?? []).flatMap(({ kind, text }) => (kind === 'result' ? [text] : []));
    },
  };
  return shelf;
}

/** A turn of a model that calls a tool of the server. */
export const call = (name: string, input: object | string = {}): Reply => ({
  text: '',
  calls: [{ name: `shelf__${name}`, input }],
});
