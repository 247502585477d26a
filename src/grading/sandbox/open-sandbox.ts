import { release } from 'node:os';
import { openOnce, Turns } from '../../runtime/turns';
import { bubblewrap, unsafe } from './bubblewrap';
import { type ProgramLimits, type Sandbox, SandboxError } from './sandbox';
import { sandboxFusion } from './sandbox-fusion';

const UNSAFE = 'none-unsafe';

/** A sandbox that passed a test run, with the version of its Python. */
export interface ReadySandbox extends Pick<Sandbox, 'name' | 'run'> {
  readonly python: string;
}

/** Sandboxes by the setting that chose them. */
const ready = new Map<string, Promise<ReadySandbox>>();

/** Opens the sandbox that `CONDUCTOR_SANDBOX` names, tested once. @throws SandboxError that says what to do */
export function openSandbox(): Promise<ReadySandbox> {
  const { CONDUCTOR_SANDBOX: setting = '' } = process.env;
  return openOnce(ready, setting, () => tryOut(setting));
}

function choose(setting: string): Sandbox {
  if (setting === '' || setting === bubblewrap.name) return bubblewrap;
  if (/^https?:\/\/./.test(setting)) return sandboxFusion(setting);
  if (setting === UNSAFE) return unsafe;
  throw new SandboxError(
    `CONDUCTOR_SANDBOX is ${JSON.stringify(setting)}: expected nothing or bubblewrap, the URL of a SandboxFusion ` +
      `server, or ${UNSAFE}, which lets a model's programs do whatever this process may`,
  );
}

const PROBE = {
  python: 'import platform, sys\nprint(platform.python_version(), sys.stdin.read())\n',
  stdin: 'a sandbox',
};
const LIMITS: ProgramLimits = { seconds: 6, memoryMb: 1024, outputBytes: 1000 };

async function tryOut(setting: string): Promise<ReadySandbox> {
  const sandbox = choose(setting);
  const run = await sandbox.run(PROBE, LIMITS).catch((error: unknown) => {
    const { message } = error as Error;
    throw new SandboxError(`${message}. ${sandbox.remedyFor(message)}`);
  });
  const words = run.kind === 'ended' ? `${run.stdout}${run.stderr}`.trim() : run.reason;
  const python = /^(3\.\d+\.\d\S*) a sandbox$/.exec(words)?.[1];
  if (python === undefined) {
    const said = words.slice(-300);
    throw new SandboxError(`${sandbox.name} could not run Python: ${said}. ${sandbox.remedyFor(words)}`);
  }
  if (sandbox === bubblewrap && !countsProcesses(release())) {
    throw new SandboxError(
      `Linux ${release()} counts processes per user, not per sandbox: use Linux 5.14 or newer, or SandboxFusion`,
    );
  }
  if (sandbox === unsafe) {
    process.emitWarning(
      `CONDUCTOR_SANDBOX=${UNSAFE}: programs written by models run without a sandbox, as this user`,
    );
  }
  const turns = new Turns(sandbox.places);
  return {
    name: sandbox.name,
    python,
    run: (program, limits) => turns.take(() => sandbox.run(program, limits)),
  };
}

function countsProcesses(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
