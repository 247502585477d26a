/** Most that a server may send for one request. Results are cut far below that. */
const MOST_BYTES = 8 * 1024 * 1024;
/** Reading a message takes time however short it is, and nothing else runs meanwhile. */
const MOST_LINES = 10_000;

const LINE_FEED = 0x0a;

/** Measures what a server sends for one request. */
export class Meter {
  private bytes = 0;
  private lines = 0;

  /** @throws Error that says what there is too much of */
  count(chunk: Uint8Array, countsLines: boolean): void {
    this.bytes += chunk.byteLength;
    if (this.bytes > MOST_BYTES) {
      throw new Error(`the server sent more than ${MOST_BYTES / 1024 / 1024} MiB for one request`);
    }
    if (!countsLines) return;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) this.lines += 1;
    if (this.lines > MOST_LINES) {
      throw new Error(`the server sent more than ${MOST_LINES} lines for one request`);
    }
  }
}
