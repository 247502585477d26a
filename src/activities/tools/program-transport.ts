import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client' with {
  'resolution-mode': 'import',
};
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { basename, resolve } from 'node:path';
import { reasonOf } from '../../errors';
import { startProgram } from '../../runtime/start-program';
import { Meter } from './meter';

/** Time that a program has to end once its input has ended. */
const END_MS = 2000;
/** Characters of stderr that are kept. */
const MOST_KEPT = 4096;

/** Variables that every program gets, on Unix and Windows. */
const USUAL = [
  ...['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'],
  ...['APPDATA', 'COMSPEC', 'LOCALAPPDATA', 'PATHEXT', 'Path', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERPROFILE'],
];

/**
 * Connection to a program that speaks the protocol on its stdin and stdout, a message a line. Lines that are no message
 * are skipped: many programs greet. What it writes for one message of ours is measured, and a program that writes too much
 * is killed.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];

  private child: ChildProcess | null = null;
  private meter = new Meter();
  private unread: Buffer[] = [];
  private complaint = '';

  /**
   * @param onEnd called with the reason, before `onclose`
   */
  constructor(
    private readonly command: readonly string[],
    private readonly env: NodeJS.ProcessEnv,
    private readonly onEnd: (reason: string) => void,
  ) {}

  start(): Promise<void> {
    const [given = '', ...args] = this.command;
    // A path is the operator's own choice, in the folder where the worker was started.
    const program = given === basename(given) ? given : resolve(given);
    const child = startProgram(program, args, {
      cwd: process.cwd(),
      env: { ...pick(process.env, USUAL), ...this.env },
      passes: 'all',
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own is killed with all that the program started.
      detached: hasGroups,
    });
    this.child = child;
    // A process that is done does not wait for its tools, whose input ends with it.
    for (const handle of [child, child.stdin, child.stdout, child.stderr]) (handle as Socket | null)?.unref();
    child.stdout?.on('data', (chunk: Buffer) => {
      this.read(chunk);
    });
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.complaint = (this.complaint + chunk).slice(-MOST_KEPT);
    });
    // The end of the program says more.
    child.stdin?.on('error', () => undefined);
    child.on('close', (code, signal) => {
      this.end(
        `${basename(program)} ended with ${signal ?? `exit code ${code ?? 0}`}${this.lastComplaint()}`,
      );
    });
    return new Promise((begun, failed) => {
      child.on('spawn', begun).on('error', failed);
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { child } = this;
    if (child === null) {
      return Promise.reject(Object.assign(new Error('the program has ended'), { code: 'NOT_CONNECTED' }));
    }
    // An answer of ours, which a program may ask for without end, is no request.
    if ('method' in message) this.meter = new Meter();
    child.stdin?.write(`${JSON.stringify(message)}\n`);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    this.child = null;
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    const ended = hasEnded ? Promise.resolve() : new Promise((done) => child.once('exit', done));
    child.stdin?.end();
    const timer = setTimeout(() => {
      kill(child);
    }, END_MS);
    this.onclose?.();
    await ended;
    clearTimeout(timer);
  }

  private read(chunk: Buffer): void {
    if (this.child === null) return;
    try {
      this.meter.count(chunk, true);
    } catch (error) {
      kill(this.child);
      this.end(reasonOf(error));
      return;
    }
    let from = 0;
    for (let at = chunk.indexOf('\n'); at !== -1; at = chunk.indexOf('\n', from)) {
      const line = Buffer.concat([...this.unread.splice(0), chunk.subarray(from, at)]).toString('utf8');
      from = at + 1;
      this.take(line);
    }
    if (from < chunk.length) this.unread.push(chunk.subarray(from));
  }

  private take(line: string): void {
    try {
      this.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    } catch {
      // It is no message: not even JSON, or so deep that no reader comes to its end.
    }
  }

  private end(reason: string): void {
    if (this.child === null) return;
    this.child = null;
    this.unread = [];
    this.onEnd(reason);
    this.onclose?.();
  }

  /** Returns the last line of its stderr. */
  private lastComplaint(): string {
    const line =
      this.complaint
        .trimEnd()
        .split(/[\r\n]/)
        .at(-1) ?? '';
    return line === '' ? '' : `: ${line}`;
  }
}

const hasGroups = process.platform !== 'win32';

function kill(child: ChildProcess): void {
  try {
    if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It has ended.
  }
}

function pick(env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
