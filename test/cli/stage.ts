import { join } from 'node:path';
import type { ConfigInput } from '../../src';
import { stopServer } from '../../src/local/embedded-server';
import { renderPlan } from '../../src/plan/render';
import type { ModelBehaviour, SimulatedProviders } from '../../src/testing';
import { step } from '../support/step';
import { testServerAddress, testTaskQueue } from '../support/test-server';
import { useProviders } from '../testing/use-providers';
import { type CommandSetting, type Ended, type RunningCommand, startCommand } from './command';
import { type Folder, makeFolder, poolAt } from './folder';

/** Reply of a Conductor that gives everything to `alpha`. */
export const PLAN = planOf('Look it up');

export function planOf(subtask: string): string {
  return renderPlan({ steps: [step('alpha', subtask)] }, ['alpha', 'beta']);
}

/** A new folder for each test of a file; its commands end with the test. */
export interface FolderStage {
  readonly folder: Folder;
  readonly start: (args: readonly string[], setting?: Partial<CommandSetting>) => RunningCommand;
  readonly run: (...args: readonly string[]) => Promise<Ended>;
  /** Starts the folder's Temporal server, so that not every command has to start it. */
  readonly startServer: () => Promise<unknown>;
  /** Starts a command that keeps running, and waits until it is ready. */
  readonly startReady: (...started: Parameters<FolderStage['start']>) => Promise<RunningCommand>;
}

/** @param env environment of all commands */
export function useFolder(env: Readonly<Record<string, string>> = {}): FolderStage {
  const started: RunningCommand[] = [];
  const stage = {} as { -readonly [Part in keyof FolderStage]: FolderStage[Part] };
  stage.start = (args, setting = {}) => {
    const place = { cwd: stage.folder.path, env: { ...env, ...setting.env } };
    const command = startCommand(args, { ...setting, ...place });
    started.push(command);
    return command;
  };
  stage.run = (...args) => stage.start(args).ended;
  stage.startServer = () => stage.start(['server']).hear(/Temporal is running\./);
  stage.startReady = async (...given) => {
    const command = stage.start(...given);
    await command.hear(/^Ready/m);
    return command;
  };
  beforeEach(async () => {
    stage.folder = await makeFolder();
  });
  afterEach(async () => {
    // A failed test may have left commands running.
    await Promise.all(started.splice(0).map((command) => command.end('SIGINT')));
    // A command that is ended at once leaves its server to the next command of the folder.
    await stopServer(join(stage.folder.path, '.conductor'));
    await stage.folder.remove();
  });
  return stage;
}

/** A stage with a pool of simulated models. */
export interface Stage extends FolderStage {
  readonly providers: SimulatedProviders;
  /** Returns the configuration that the folder has at first, with these changes. */
  readonly pool: (changes?: Partial<ConfigInput>) => ConfigInput;
  /** Starts a solve, and waits for its request to this model, which does not answer before `release`. */
  readonly solveUntil: (model: string, question: string) => Promise<HeldSolve>;
  /** Returns the number of requests to a model. */
  readonly callsOf: (model: string) => number;
}

interface HeldSolve {
  readonly solving: RunningCommand;
  readonly id: string;
  readonly release: () => void;
}

interface StageOptions {
  /** @default a pool of Conductor `boss` and workers `alpha` and `beta` */
  readonly configOf?: (url: string) => ConfigInput;
  /** The server that the commands use: the test run's, on a task queue for each test, or the folder's own. */
  readonly server?: 'shared' | 'own';
  /** Heartbeat timeout of calls on the shared server: a cancelled call hears of it within half of that. @default 5 s */
  readonly heartbeat?: string;
}

export function useStage(
  models: Readonly<Record<string, ModelBehaviour>>,
  { configOf = poolAt, server = 'own', heartbeat = '5s' }: StageOptions = {},
): Stage {
  const isShared = server === 'shared';
  const stage = useFolder(isShared ? { TEMPORAL_ADDRESS: testServerAddress() } : {});
  const providers = useProviders({ models });
  let temporal: ConfigInput['temporal'];
  const pool: Stage['pool'] = (changes = {}) => ({
    ...configOf(providers.url),
    ...(isShared && { temporal }),
    ...changes,
  });
  beforeEach(() => {
    temporal = { taskQueue: testTaskQueue(), heartbeat };
    return stage.folder.write('conductor.yaml', pool());
  });
  return {
    start: stage.start,
    run: stage.run,
    startReady: stage.startReady,
    startServer: stage.startServer,
    get folder() {
      return stage.folder;
    },
    providers,
    pool,
    solveUntil: async (wanted, question) => {
      const release = providers.hold(wanted);
      const solving = stage.start(['solve', question]);
      const [, id = ''] = await solving.hear(/^(solve-[\w-]+):/m);
      await providers.waitForRequest(({ model }) => model === wanted);
      return { solving, id, release };
    },
    callsOf: (wanted) => providers.log.filter(({ model }) => model === wanted).length,
  };
}
