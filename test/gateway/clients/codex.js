// OpenAI's Codex CLI, which runs the commands that the model asks for.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { model, report, url } from './outcome.js';

const CODEX = fileURLToPath(new URL('node_modules/@openai/codex/bin/codex.js', import.meta.url));
const CONFIG = `
model = ${JSON.stringify(model)}
model_provider = "team"
sandbox_mode = "danger-full-access"
approval_policy = "never"

[model_providers.team]
name = "team"
base_url = "${url}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
`;

const folder = await mkdtemp(join(tmpdir(), 'codex-'));
await writeFile(join(folder, 'config.toml'), CONFIG);
await report({ streamed: ask });
await rm(folder, { recursive: true, force: true });

async function ask(question) {
  const args = [CODEX, 'exec', '--skip-git-repo-check', '--json', question];
  const running = promisify(execFile)(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, CODEX_HOME: folder },
  });
  // It would wait for more of the question.
  running.child.stdin.end();
  const { stdout } = await running.catch((error) => error);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ended = events.find(({ type }) => type === 'turn.completed');
  if (ended === undefined) throw new Error(stdout);
  const said = events.filter(({ item }) => item?.type === 'agent_message');
  const { input_tokens: input, output_tokens: output } = ended.usage;
  return { text: said.at(-1).item.text, tokens: input + output };
}
