// OpenAI's Codex CLI, without the tools that can be switched off: the gateway is told to ignore the one that is left.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { model, question, report, url } from './outcome.js';

const CODEX = fileURLToPath(new URL('node_modules/@openai/codex/bin/codex.js', import.meta.url));
const CONFIG = `
model = ${JSON.stringify(model)}
model_provider = "ours"
web_search = "disabled"

[features]
shell_tool = false
unified_exec = false
goals = false
multi_agent = false
view_image = false

[model_providers.ours]
name = "ours"
base_url = "${url}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"
http_headers = { "x-conductor-ignore" = "tools" }
`;

const folder = await mkdtemp(join(tmpdir(), 'codex-'));
await writeFile(join(folder, 'config.toml'), CONFIG);
try {
  await report(null, async () => {
    const args = [CODEX, 'exec', '--skip-git-repo-check', '--json', question];
    const setting = { cwd: folder, env: { ...process.env, CODEX_HOME: folder } };
    const running = promisify(execFile)(process.execPath, args, setting);
    // It would wait for more of the question.
    running.child.stdin.end();
    const { stdout } = await running.catch((error) => error);
    const events = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const ended = events.find(({ type }) => type === 'turn.completed');
    if (ended === undefined)
      throw new Error(
        events
          .map(({ message }) => message)
          .filter(Boolean)
          .join('\n') || stdout,
      );
    const said = events.filter(({ item }) => item?.type === 'agent_message').map(({ item }) => item.text);
    return { text: said.join(''), tokens: ended.usage.input_tokens + ended.usage.output_tokens };
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
