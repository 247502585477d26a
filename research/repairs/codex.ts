import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const CODEX = resolve(__dirname, '../../test/gateway/clients/node_modules/@openai/codex/bin/codex.js');
/** Time after which an agent that hangs is ended, so that the failure names it. */
const HANGS_MS = 240_000;

/** How Codex reaches a team. */
export interface Team {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  /** What the gateway takes as `conductor`, for which Codex has no field. */
  readonly options?: object;
}

/** Has the real Codex carry out a task in a folder, by a model of the team. @param home folder of its own settings */
export async function runCodex(
  team: Team,
  task: string,
  places: { folder: string; home: string },
): Promise<void> {
  const { folder, home } = places;
  await mkdir(home, { recursive: true });
  await writeFile(resolve(home, 'config.toml'), configOf(team));
  const running = promisify(execFile)(
    process.execPath,
    [CODEX, 'exec', '--skip-git-repo-check', '--json', task],
    { cwd: folder, env: { ...process.env, CODEX_HOME: home, TEAM_KEY: team.key }, timeout: HANGS_MS },
  );
  // It would wait for more of the task.
  running.child.stdin?.end();
  const { stdout } = await running;
  if (!stdout.includes('"turn.completed"')) throw new Error(`Codex did not complete its turn:\n${stdout}`);
}

function configOf({ url, model, options }: Team): string {
  const header =
    options === undefined ? [] : [`http_headers = { "x-conductor-options" = '${JSON.stringify(options)}' }`];
  return [
    `model = "${model}"`,
    'model_provider = "team"',
    'sandbox_mode = "danger-full-access"',
    'approval_policy = "never"',
    '[model_providers.team]',
    'name = "team"',
    `base_url = "${url}/v1"`,
    'env_key = "TEAM_KEY"',
    'wire_api = "responses"',
    ...header,
  ].join('\n');
}
