import type { ConfigInput } from '../../src';
import { type ModelBehaviour, type SimulatedProviders, startSimulatedProviders } from '../../src/testing';
import { type CommandSetting, type Ended, type RunningCommand, startCommand } from './command';
import { type Folder, makeFolder, poolAt } from './folder';

/** A folder, anew for each test of a file; its commands end with the test. */
export interface FolderStage {
  readonly folder: Folder;
  readonly start: (args: readonly string[], setting?: Partial<CommandSetting>) => RunningCommand;
  readonly run: (...args: readonly string[]) => Promise<Ended>;
}

/** @param env of all its commands */
export function useFolder(env: Readonly<Record<string, string>> = {}): FolderStage {
  const started: RunningCommand[] = [];
  const stage = {} as { -readonly [Part in keyof FolderStage]: FolderStage[Part] };
  stage.start = (args, setting = {}) => {
    const command = startCommand(args, {
      cwd: stage.folder.path,
      ...setting,
      env: { ...env, ...setting.env },
    });
    started.push(command);
    return command;
  };
  stage.run = (...args) => stage.start(args).ended;
  beforeEach(async () => {
    stage.folder = await makeFolder();
  });
  afterEach(async () => {
    // A test that failed may have left some.
    for (const command of started) command.signal('SIGINT');
    await Promise.all(started.splice(0).map(({ ended }) => ended));
    await stage.folder.remove();
  });
  return stage;
}

/** Such a folder with a pool of simulated models. */
export interface Stage extends FolderStage {
  readonly providers: SimulatedProviders;
  /** How many requests a model was sent. */
  readonly callsOf: (model: string) => number;
}

export function useStage(
  models: Readonly<Record<string, ModelBehaviour>>,
  configOf: (url: string) => ConfigInput = poolAt,
): Stage {
  const stage = useFolder();
  const providers = {} as { now: SimulatedProviders };
  beforeEach(async () => {
    providers.now = await startSimulatedProviders({ models });
    await stage.folder.write('conductor.yaml', configOf(providers.now.url));
  });
  afterEach(() => providers.now.close());
  return {
    start: stage.start,
    run: stage.run,
    get folder() {
      return stage.folder;
    },
    get providers() {
      return providers.now;
    },
    callsOf: (wanted) => providers.now.log.filter(({ model }) => model === wanted).length,
  };
}
