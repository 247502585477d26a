// Screenshots have few colours: with a palette instead of three bytes per pixel they shrink to half or less.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

/** @param {Buffer} png as Chromium writes it: 8 bits per channel, not interlaced */
export function withPalette(png) {
  const chunks = readChunks(png);
  const header = chunks.find(({ type }) => type === 'IHDR').data;
  const [width, height, channels] = [header.readUInt32BE(0), header.readUInt32BE(4), header[9] === 6 ? 4 : 3];
  const raw = inflateSync(
    Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)),
  );
  const pixels = unfilter(raw, width * channels, height, channels);
  const { palette, indexOf } = choosePalette(pixels, channels);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rows[y * (width + 1) + 1 + x] = indexOf((y * width + x) * channels);
  }
  const IHDR = Buffer.from(header);
  IHDR[9] = 3;
  const parts = {
    IHDR,
    PLTE: Buffer.from(palette.flat()),
    IDAT: deflateSync(rows, { level: 9, memLevel: 9 }),
    IEND: Buffer.alloc(0),
  };
  return Buffer.concat([SIGNATURE, ...Object.entries(parts).map(([type, data]) => writeChunk(type, data))]);
}

function readChunks(png) {
  const chunks = [];
  for (let at = SIGNATURE.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    });
    at += length + 12;
  }
  return chunks;
}

function writeChunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Undoes the filters: each byte is stored as the difference from its row filter's prediction. */
function unfilter(raw, stride, height, channels) {
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < channels ? 0 : pixels[at - channels];
      const above = y === 0 ? 0 : pixels[at - stride];
      const corner = x < channels || y === 0 ? 0 : pixels[at - stride - channels];
      const foretold = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter];
      pixels[at] = raw[y * (stride + 1) + 1 + x] + foretold;
    }
  }
  return pixels;
}

function paeth(left, above, corner) {
  const [a, b, c] = [left, above, corner].map((value) => Math.abs(left + above - corner - value));
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}

/** Takes the commonest colour of at most 256 groups (same upper 4 bits per channel); others map to the nearest. */
function choosePalette(pixels, channels) {
  const counts = new Map();
  const keyAt = (at) => (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
  for (let at = 0; at < pixels.length; at += channels)
    counts.set(keyAt(at), (counts.get(keyAt(at)) ?? 0) + 1);
  const commonest = [...counts].sort((one, other) => other[1] - one[1]).map(([key]) => key);
  const kinds = new Map();
  for (const key of commonest) if (!kinds.has(key & 0xf0f0f0)) kinds.set(key & 0xf0f0f0, colourOf(key));
  const palette = [...kinds.values()].slice(0, 256);
  const indices = new Map();
  for (const key of commonest) {
    const far = palette.map((each) => distance(each, colourOf(key)));
    indices.set(key, far.indexOf(Math.min(...far)));
  }
  return { palette, indexOf: (at) => indices.get(keyAt(at)) };
}

const colourOf = (key) => [key >> 16, (key >> 8) & 255, key & 255];
const distance = (one, other) => one.reduce((sum, value, index) => sum + (value - other[index]) ** 2, 0);
