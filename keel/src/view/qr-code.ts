/**
 * A short text as a QR code (ISO/IEC 18004): bytes, error correction level M, the smallest of the first ten sizes that
 * holds it. Pure: rows of modules, where true is dark; a screen draws them with four light ones around.
 */
export type QrModules = readonly (readonly boolean[])[];

/** Undefined for a text that no such code holds (more than 213 bytes). */
export function qrCode(text: string): QrModules | undefined {
  const bytes = [...new TextEncoder().encode(text)];
  const version = sizes.findIndex((size) => bytes.length <= dataBytes(size) - headBytes(size.version)) + 1;
  const size = sizes[version - 1];
  if (!size) return undefined;
  const blank = drawPatterns(size);
  const data = placed(blank, interleave(dataOf(bytes, size), size));
  const drawn = masks.map((mask, index) => finish(blank, data, mask, index));
  return drawn.reduce((best, one) => (penalty(one) < penalty(best) ? one : best));
}

type QrSize = {
  readonly version: number;
  /** For each block: how many bytes of data, and how many that correct them. */
  readonly blocks: readonly number[];
  readonly correction: number;
  /** Where the centres of the small squares are, in both directions. */
  readonly centres: readonly number[];
};

/** Level M of the standard's tables. */
const sizes: readonly QrSize[] = [
  { version: 1, blocks: [16], correction: 10, centres: [] },
  { version: 2, blocks: [28], correction: 16, centres: [6, 18] },
  { version: 3, blocks: [44], correction: 26, centres: [6, 22] },
  { version: 4, blocks: [32, 32], correction: 18, centres: [6, 26] },
  { version: 5, blocks: [43, 43], correction: 24, centres: [6, 30] },
  { version: 6, blocks: [27, 27, 27, 27], correction: 16, centres: [6, 34] },
  { version: 7, blocks: [31, 31, 31, 31], correction: 18, centres: [6, 22, 38] },
  { version: 8, blocks: [38, 38, 39, 39], correction: 22, centres: [6, 24, 42] },
  { version: 9, blocks: [36, 36, 36, 37, 37], correction: 22, centres: [6, 26, 46] },
  { version: 10, blocks: [43, 43, 43, 43, 44], correction: 26, centres: [6, 28, 50] },
];

const dataBytes = ({ blocks }: QrSize): number => blocks.reduce((sum, one) => sum + one, 0);
/** Of the kind and the length, rounded up. */
const headBytes = (version: number): number => (version < 10 ? 2 : 3);

function dataOf(bytes: readonly number[], size: QrSize): number[] {
  const bits: number[] = [];
  const add = (value: number, count: number): void => {
    for (let at = count - 1; at >= 0; at -= 1) bits.push((value >> at) & 1);
  };
  const inBytes = 0b0100;
  add(inBytes, 4);
  add(bytes.length, size.version < 10 ? 8 : 16);
  for (const byte of bytes) add(byte, 8);
  const room = dataBytes(size) * 8;
  add(0, Math.min(4, room - bits.length));
  add(0, (8 - (bits.length % 8)) % 8);
  const fillers = [0xec, 0x11];
  for (let turn = 0; bits.length < room; turn += 1) add(fillers[turn % 2] ?? 0, 8);
  return Array.from({ length: room / 8 }, (_, at) =>
    bits.slice(at * 8, at * 8 + 8).reduce((byte, bit) => (byte << 1) | bit, 0),
  );
}

/** Blocks side by side, so that a spot on the paper costs each of them a little. */
function interleave(data: readonly number[], { blocks, correction }: QrSize): number[] {
  let from = 0;
  const parts = blocks.map((length) => {
    const part = data.slice(from, from + length);
    from += length;
    return part;
  });
  const corrections = parts.map((part) => correctionOf(part, correction));
  const sideBySide = (rows: readonly (readonly number[])[]): number[] =>
    Array.from({ length: Math.max(...rows.map((row) => row.length)) }, (_, at) =>
      rows.flatMap((row) => row.slice(at, at + 1)),
    ).flat();
  return [...sideBySide(parts), ...sideBySide(corrections)];
}

/** The rest of a division by the generator, over the field of 256 elements (Reed and Solomon). */
export function correctionOf(data: readonly number[], count: number): number[] {
  let generator = [1];
  for (let power = 0; power < count; power += 1) {
    const next = [...generator, 0];
    for (const [at, factor] of generator.entries())
      next[at + 1] = (next[at + 1] ?? 0) ^ times(factor, powerOf(power));
    generator = next;
  }
  const rest = Array.from({ length: count }, () => 0);
  for (const byte of data) {
    const factor = byte ^ (rest.shift() ?? 0);
    rest.push(0);
    for (let at = 0; at < count; at += 1) rest[at] = (rest[at] ?? 0) ^ times(generator[at + 1] ?? 0, factor);
  }
  return rest;
}

function times(left: number, right: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ (product >> 7 ? 0x11d : 0);
    if ((right >> bit) & 1) product ^= left;
  }
  return product;
}

const powerOf = (exponent: number): number => (exponent === 0 ? 1 : times(2, powerOf(exponent - 1)));

/** Undefined is free for data. */
type Drawing = (boolean | undefined)[][];

function drawPatterns({ version, centres }: QrSize): Drawing {
  const width = version * 4 + 17;
  const modules: Drawing = Array.from({ length: width }, () =>
    Array.from({ length: width }, () => undefined),
  );
  const put = (x: number, y: number, isDark: boolean): void => {
    const row = modules[y];
    if (row && x >= 0 && x < width) row[x] = isDark;
  };
  for (let at = 0; at < width; at += 1) {
    put(at, 6, at % 2 === 0);
    put(6, at, at % 2 === 0);
  }
  for (const [left, top] of [
    [3, 3],
    [width - 4, 3],
    [3, width - 4],
  ] as const)
    for (let y = -4; y <= 4; y += 1)
      for (let x = -4; x <= 4; x += 1) {
        const ring = Math.max(Math.abs(x), Math.abs(y));
        put(left + x, top + y, ring !== 2 && ring !== 4);
      }
  const last = centres.at(-1) ?? 0;
  for (const cx of centres)
    for (const cy of centres) {
      const isCorner = (cx === 6 && (cy === 6 || cy === last)) || (cx === last && cy === 6);
      if (isCorner) continue;
      for (let y = -2; y <= 2; y += 1)
        for (let x = -2; x <= 2; x += 1) put(cx + x, cy + y, Math.max(Math.abs(x), Math.abs(y)) !== 1);
    }
  // Kept free until the mask is known.
  drawFormat(put, width, 0);
  if (version >= 7) drawVersion(put, width, version);
  return modules;
}

type Put = (x: number, y: number, isDark: boolean) => void;

/** Level and mask, with what corrects them, in two places. */
function drawFormat(put: Put, width: number, mask: number): void {
  const levelM = 0b00;
  const data = (levelM << 3) | mask;
  const bits = ((data << 10) | restOf(data, 10, 0x537)) ^ 0x5412;
  const bit = (at: number): boolean => ((bits >> at) & 1) === 1;
  for (let at = 0; at < 6; at += 1) put(8, at, bit(at));
  put(8, 7, bit(6));
  put(8, 8, bit(7));
  put(7, 8, bit(8));
  for (let at = 9; at < 15; at += 1) put(14 - at, 8, bit(at));
  for (let at = 0; at < 8; at += 1) put(width - 1 - at, 8, bit(at));
  for (let at = 8; at < 15; at += 1) put(8, width - 15 + at, bit(at));
  put(8, width - 8, true);
}

function drawVersion(put: Put, width: number, version: number): void {
  const bits = (version << 12) | restOf(version, 12, 0x1f25);
  for (let at = 0; at < 18; at += 1) {
    const isDark = ((bits >> at) & 1) === 1;
    const far = width - 11 + (at % 3);
    const near = Math.floor(at / 3);
    put(far, near, isDark);
    put(near, far, isDark);
  }
}

function restOf(data: number, bits: number, generator: number): number {
  let rest = data;
  for (let at = 0; at < bits; at += 1) rest = (rest << 1) ^ ((rest >> (bits - 1)) & 1 ? generator : 0);
  return rest & ((1 << bits) - 1);
}

/** In columns of two from the right, up and down, past what is drawn. */
function* freePlaces(modules: Drawing): Generator<readonly [x: number, y: number]> {
  const width = modules.length;
  for (let right = width - 1; right >= 1; right -= 2) {
    const column = right <= 6 ? right - 1 : right;
    const isUp = ((column + 1) & 2) === 0;
    for (let step = 0; step < width; step += 1)
      for (const x of [column, column - 1]) {
        const y = isUp ? width - 1 - step : step;
        if (modules[y]?.[x] === undefined) yield [x, y];
      }
  }
}

/** The same drawing with what the data says where it was free. */
function placed(blank: Drawing, codewords: readonly number[]): QrModules {
  const bits = codewords.flatMap((byte) =>
    Array.from({ length: 8 }, (_, at) => ((byte >> (7 - at)) & 1) === 1),
  );
  const modules = blank.map((row) => row.map((isDark) => isDark === true));
  let at = 0;
  for (const [x, y] of freePlaces(blank)) {
    const row = modules[y];
    if (row) row[x] = bits[at++] ?? false;
  }
  return modules;
}

const masks: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Turned over where the mask says, so that no large spot of one colour is left; patterns stay as they are. */
function finish(
  blank: Drawing,
  data: QrModules,
  mask: (x: number, y: number) => boolean,
  index: number,
): boolean[][] {
  const modules = data.map((row, y) =>
    row.map((isDark, x) => (blank[y]?.[x] === undefined && mask(x, y) ? !isDark : isDark)),
  );
  drawFormat(
    (x, y, isDark) => {
      const row = modules[y];
      if (row) row[x] = isDark;
    },
    modules.length,
    index,
  );
  return modules;
}

/** How hard it is to read: long runs, squares, what looks like a corner, and too much of one colour. */
function penalty(modules: QrModules): number {
  const columns = modules.map((_, x) => modules.map((row) => row[x] === true));
  let points = 0;
  for (const line of [...modules, ...columns]) {
    const text = line.map((isDark) => (isDark ? "1" : "0")).join("");
    for (const [run] of text.matchAll(/0{5,}|1{5,}/g)) points += run.length - 2;
    points += 40 * [...text.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  const at = (x: number, y: number): boolean => modules[y]?.[x] === true;
  const width = modules.length;
  for (let y = 0; y + 1 < width; y += 1)
    for (let x = 0; x + 1 < width; x += 1) {
      const first = at(x, y);
      if (at(x + 1, y) === first && at(x, y + 1) === first && at(x + 1, y + 1) === first) points += 3;
    }
  const dark = modules.flat().filter(Boolean).length / (width * width);
  return points + Math.floor(Math.abs(dark * 20 - 10)) * 10;
}
