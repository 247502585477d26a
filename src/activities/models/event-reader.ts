/**
 * Takes a stream of server-sent events apart (html.spec.whatwg.org/multipage/server-sent-events.html) in time linear in
 * its length, wherever its chunks are cut. Only data counts: each vendor repeats the name of an event in it, if it has one.
 */
export class EventReader {
  readonly #decoder = new TextDecoder();
  /** Pieces of a line whose end has not come. */
  #line: string[] = [];
  #data: string[] = [];
  #endedInReturn = false;

  /** The data of each event that ends in this chunk, but for those without any: they keep a connection alive. */
  push(chunk: Uint8Array): string[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (text === '') return [];
    // A line feed after the return of the last chunk ends no further line.
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
