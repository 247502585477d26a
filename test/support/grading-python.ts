import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Makes the second tier of maths grading use its locked Python environment, which is set up once per user. */
export function useGradingPython(): void {
  const script = join(__dirname, '../../scripts/prepare-grading.mjs');
  process.env.CONDUCTOR_PYTHON = execFileSync(process.execPath, [script], { encoding: 'utf8' }).trim();
}
