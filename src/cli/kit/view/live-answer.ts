import type { LiveEvent } from '../../../client';
import type { SolveResult } from '../../../protocol/solve';
import { ownRound } from '../../../trace/run-tree';
import { outliveReader, print, say } from '../terminal';

/**
 * Streams the answer of a run to stdout: the text of the run's last step, unless a review may change it. However many
 * attempts there were, stdout ends with the final answer.
 */
export class LiveAnswer {
  /** Text of the newest attempt of the last step. */
  private text = '';
  private printed = '';
  private isPaused = false;
  private isAnew = false;
  private writing = Promise.resolve();

  /**
   * @param giveWay hides the live view if it shares the terminal with the answer
   * @param remedy what to do if the answer cannot be written
   */
  constructor(
    private readonly giveWay: () => void,
    private readonly remedy: string,
  ) {
    outliveReader();
  }

  /** Settles when stdout has taken everything, or when its reader is gone. */
  get written(): Promise<void> {
    return this.writing;
  }

  /** @param trace the run as it is now, with its plan */
  take(event: LiveEvent, trace: SolveResult | undefined): void {
    if (event.kind === 'ended' && event.answer !== null) this.end(event.answer);
    if (!isOfLastStep(event, trace)) return;
    if (event.kind === 'restarted') this.text = '';
    if (event.kind === 'text' && event.provisional !== true) this.text += event.delta;
    this.goOn();
  }

  /** Prints nothing while a person is asked something. */
  async whilePaused(work: () => Promise<void>): Promise<void> {
    this.isPaused = true;
    await work().finally(() => (this.isPaused = false));
    this.goOn();
  }

  /** Ends an unfinished line. */
  close(): void {
    if (this.printed !== '' && !this.printed.endsWith('\n')) this.write('\n');
  }

  private goOn(): void {
    // White space alone is no answer: an earlier step's output is used instead.
    if (this.isPaused || this.text.trim() === '' || this.printed.startsWith(this.text)) return;
    if (this.text.startsWith(this.printed)) this.write(this.text.slice(this.printed.length));
    else this.sayAnew();
  }

  private end(answer: string): void {
    const goesOn = answer.startsWith(this.printed);
    if (!goesOn) {
      this.sayAnew();
      this.close();
    }
    this.write(goesOn ? answer.slice(this.printed.length) : answer);
  }

  private sayAnew(): void {
    if (!this.isAnew) say('The answer was restarted; its full text is printed at the end.');
    this.isAnew = true;
  }

  private write(text: string): void {
    if (text === '') return;
    if (this.printed === '' && process.stdout.isTTY && process.stderr.isTTY) this.giveWay();
    this.printed += text;
    this.writing = print(text, { exact: true, isPart: true, remedy: this.remedy });
  }
}

function isOfLastStep(event: LiveEvent, trace: SolveResult | undefined): boolean {
  if (trace === undefined || !('step' in event) || event.childId !== null) return false;
  return event.step === ownRound(trace, event.round)?.steps.at(-1)?.index;
}
