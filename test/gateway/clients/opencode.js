// OpenCode: it runs the commands that the model asks for.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { apiKey, model, report, url } from './outcome.js';

// The program itself, which `opencode-ai` would link to by an install script. Only this platform's is locked.
const OPENCODE = fileURLToPath(new URL('node_modules/opencode-linux-x64/bin/opencode', import.meta.url));
const CONFIG = {
  model: `team/${model}`,
  provider: {
    team: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${url}/v1`, apiKey },
      models: { [model]: {} },
    },
  },
};

const folder = await mkdtemp(join(tmpdir(), 'opencode-'));
await writeFile(join(folder, 'opencode.json'), JSON.stringify(CONFIG));
await report({ streamed: ask });
await rm(folder, { recursive: true, force: true });

async function ask(question) {
  // With a title, it asks the model for none. It would look for newer models, and install a package for plugins.
  const running = promisify(execFile)(OPENCODE, ['run', '--format', 'json', '--title', 'Words', question], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      npm_config_offline: 'true',
    },
  });
  // It would wait for more of the question.
  running.child.stdin.end();
  const { stdout, stderr } = await running.catch((error) => error);
  const parts = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).part]));
  const said = parts.findLast((part) => part?.type === 'text');
  if (said === undefined) throw new Error(stdout + stderr);
  const tokens = parts.reduce((sum, part) => sum + (part?.tokens?.total ?? 0), 0);
  return { text: said.text, tokens };
}
