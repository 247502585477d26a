import type { Span } from '../../training/spans';

/** Notes when the parts of a piece of work were under way, by the workflow's own clock; parts may overlap. */
export class Stopwatch<Part extends string> {
  readonly spans: Span<Part>[] = [];

  async time<Result>(part: Part, work: () => Promise<Result>): Promise<Result> {
    const from = Date.now();
    try {
      return await work();
    } finally {
      this.spans.push({ part, from, to: Date.now() });
    }
  }
}
