import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Has the second tier of mathematics use the Python of its lock, which is made once for this user. */
export function useGradingPython(): void {
  const script = join(__dirname, '../../scripts/prepare-grading.mjs');
  process.env.CONDUCTOR_PYTHON = execFileSync(process.execPath, [script], { encoding: 'utf8' }).trim();
}
