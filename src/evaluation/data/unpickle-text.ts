/**
 * Reads the one text that a pickle holds, of Python's protocols 2 to 5. A pickle is a program: of its instructions those
 * are known that make a text, and none that could call anything.
 *
 * @throws Error for any other
 */
export function unpickleText(pickle: Buffer): string {
  let at = 0;
  const take = (count: number): Buffer => {
    if (count > pickle.length - at) throw new Error('a pickle is cut off');
    at += count;
    return pickle.subarray(at - count, at);
  };
  const takeLength = (bytes: 1 | 4 | 8): number =>
    bytes === 8 ? Number(take(8).readBigUInt64LE()) : take(bytes).readUIntLE(0, bytes);
  const texts: string[] = [];
  const takeText = (bytes: 1 | 4 | 8): unknown => texts.push(decode(take(takeLength(bytes))));
  const instructions: Readonly<Record<number, () => unknown>> = {
    0x80: () => take(1), // PROTO
    0x95: () => take(8), // FRAME
    0x8c: () => takeText(1), // SHORT_BINUNICODE
    0x58: () => takeText(4), // BINUNICODE
    0x8d: () => takeText(8), // BINUNICODE8
    0x94: () => undefined, // MEMOIZE
    0x71: () => take(1), // BINPUT
    0x72: () => take(4), // LONG_BINPUT
  };
  for (let code = take(1).readUInt8(); code !== STOP; code = take(1).readUInt8()) {
    const run = instructions[code];
    if (run === undefined) {
      throw new Error(
        `a pickle holds more than a text (instruction 0x${code.toString(16)}), which is not carried out`,
      );
    }
    run();
  }
  const [text] = texts;
  if (text === undefined || texts.length > 1)
    throw new Error(`a pickle holds ${texts.length} texts in place of one`);
  return text;
}

const STOP = 0x2e;

/** Python's `surrogatepass` writes what is no UTF-8: such a text is refused. */
function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}
