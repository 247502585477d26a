import { spawn } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { type Listening, serve } from '../../support/serve';

interface RunRequest {
  readonly code: string;
  readonly stdin: string;
  readonly language: string;
  readonly run_timeout: number;
}

/** Starts a server that speaks SandboxFusion's protocol and runs Python without a sandbox, for our own programs. */
export function serveSandboxFusion(): Promise<Listening> {
  return serve((request, response) => {
    void json(request).then(async (body) => {
      const answer = request.url === '/run_code' ? await runCode(body as RunRequest) : null;
      response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? { detail: 'Not Found' }));
    });
  });
}

function runCode({ code, stdin, language, run_timeout: seconds }: RunRequest): Promise<object> {
  if (language !== 'python') {
    return Promise.resolve({ status: 'SandboxError', message: `no ${language} here`, run_result: null });
  }
  return new Promise((resolve) => {
    const child = spawn('python3', ['-'], { timeout: seconds * 1000, killSignal: 'SIGKILL' });
    // Standard input carries both the program and the program's own input.
    const program = Buffer.from(code).toString('base64');
    const wrapped = `import io, sys, base64\nsys.stdin = io.StringIO(base64.b64decode("${Buffer.from(stdin).toString('base64')}").decode())\nexec(compile(base64.b64decode("${program}"), "main.py", "exec"))\n`;
    child.stdin.end(wrapped);
    const out = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (out.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (out.stderr += chunk.toString()));
    child.on('close', (exit, signal) => {
      const isLate = child.killed;
      const code = exit ?? (signal === 'SIGXCPU' ? -24 : -9);
      const end = { status: isLate ? 'TimeLimitExceeded' : 'Finished', return_code: isLate ? null : code };
      resolve({
        status: exit === 0 ? 'Success' : 'Failed',
        message: '',
        compile_result: null,
        run_result: { ...end, ...out, execution_time: 0.1 },
        executor_pod_name: null,
        files: {},
      });
    });
  });
}
