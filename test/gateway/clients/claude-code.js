// Anthropic's Claude Code: it runs the commands that the model asks for.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { apiKey, model, report, url } from './outcome.js';

const CLAUDE = fileURLToPath(
  new URL('node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs', import.meta.url),
);
const folder = await mkdtemp(join(tmpdir(), 'claude-'));
await report({ streamed: ask });
await rm(folder, { recursive: true, force: true });

async function ask(question) {
  const args = ['-p', question, '--output-format', 'json', '--allowedTools', 'Bash'];
  const running = promisify(execFile)(process.execPath, [CLAUDE, ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: apiKey,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  });
  running.child.stdin.end();
  const { stdout, stderr } = await running.catch((error) => error);
  let ended;
  try {
    ended = JSON.parse(stdout);
  } catch {
    throw new Error(stdout + stderr);
  }
  if (ended.is_error) throw new Error(ended.result);
  return { text: ended.result, tokens: ended.usage.input_tokens + ended.usage.output_tokens };
}
