import { appendFileSync } from 'node:fs';
import type { BegunAnswer, KeptAnswer } from '../../src/store/answers';
import { FileStore } from '../../src/store/file-store';
import type { Keeping } from './evidence';

/** `answers/ab/<call id>.json`, `background/ab/<call id>.json`. */
const KEEPING = /^(answers|background)\/.+\/([0-9a-f]{64})\.json$/;

/**
 * A store that notes when something was kept that saves a call from being made again. The files' own times would not
 * do: a later attempt that was under way as well writes the same file again.
 */
export class WitnessStore extends FileStore {
  /** @param witness file that takes one line for each keeping */
  constructor(
    folder: string,
    private readonly witness: string,
  ) {
    super(folder);
  }

  override async write(key: string, bytes: Uint8Array): Promise<void> {
    await super.write(key, bytes);
    const [, folder, callId] = KEEPING.exec(key) ?? [];
    if (callId === undefined) return;
    const content = JSON.parse(Buffer.from(bytes).toString('utf8')) as KeptAnswer | BegunAnswer;
    const keeping: Keeping = {
      callId,
      attempt: 'row' in content ? content.row.attempt : content.attempt,
      what: folder === 'answers' ? 'answer' : 'background id',
      at: Date.now(),
    };
    appendFileSync(this.witness, `${JSON.stringify(keeping)}\n`);
  }
}
