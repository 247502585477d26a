import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { EXIT, type ExitCode } from '../../cli/ending';
import { print, say } from '../../cli/terminal';
import { type Example, MAX_EXAMPLES } from '../../plan/plan';
import { counted } from '../../trace/describe';
import { byLength, chooseVaried } from '../client/few-shot';
import { readExamples } from '../config/few-shot';

/** Adds up to `count` varied examples to a few-shot file, only of questions that have none there yet. */
export async function keepFewShot(file: string, count: number, found: readonly Example[]): Promise<ExitCode> {
  const there = existsSync(file) ? readExamples(file) : [];
  const known = new Set(there.map(({ question }) => question));
  const fresh = found.filter(({ question }) => !known.has(question));
  const added = chooseVaried(fresh, Math.min(count, MAX_EXAMPLES - there.length));
  const all = byLength([...there, ...added]);
  if (added.length > 0) await writeFile(file, stringify(all, { lineWidth: 0 }));
  await print(`${file}: ${counted(added.length, 'example')} added, ${all.length} in all.`);
  if (all.length === 0) return EXIT.failed;
  say(`Have the policy's prompts show them: training.policy.examples: ${file}`);
  return EXIT.answered;
}
