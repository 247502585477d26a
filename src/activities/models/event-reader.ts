/**
 * Parses a stream of server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html) in time linear in
 * its length, wherever its chunks are cut. Only data is read: vendors repeat an event's name, if any, in it.
 */
export class EventReader {
  readonly #decoder = new TextDecoder();
  /** Pieces of a line whose end has not arrived. */
  #line: string[] = [];
  #data: string[] = [];
  #endedInReturn = false;

  /** Returns the data of each event that ends in this chunk, except keep-alive events, which have none. */
  push(chunk: Uint8Array): string[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (text === '') return [];
    // A line feed right after the last chunk's carriage return belongs to the same line end.
    const from = this.#endedInReturn && text.startsWith('\n') ? 1 : 0;
    this.#endedInReturn = text.endsWith('\r');
    const [first = '', ...others] = text.slice(from).split(/\r\n|\n|\r/);
    const last = others.pop();
    this.#line.push(first);
    if (last === undefined) return [];
    const lines = [this.#line.join(''), ...others];
    this.#line = [last];
    return lines.flatMap((line) => this.#take(line));
  }

  /** Takes a whole line; an empty one ends an event. */
  #take(line: string): string[] {
    if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '' || this.#data.length === 0) return [];
    const data = this.#data.join('\n');
    this.#data = [];
    return data === '' || data.startsWith(':') ? [] : [data];
  }
}
