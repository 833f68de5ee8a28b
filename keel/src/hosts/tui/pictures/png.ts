/** A PNG as pixels, for terminals that want them one by one: eight bits, not interlaced, of every kind of colour. Pure. */
import { inflateSync } from "node:zlib";

/** Three bytes for each pixel; what is transparent stands on black. */
export type Pixels = { readonly width: number; readonly height: number; readonly rgb: Uint8Array };

const samplesOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const maxPixels = 16_000_000;

/** Undefined for what is damaged, too large, or of another kind. */
export function decodePng(bytes: Buffer): Pixels | undefined {
  const width = bytes.readUInt32BE(16);
  const height = bytes.readUInt32BE(20);
  const [depth, kind = -1, , , interlace] = bytes.subarray(24, 29);
  const samples = samplesOf[kind];
  if (samples === undefined || depth !== 8 || interlace !== 0 || width * height > maxPixels) return undefined;
  const { data, palette } = chunksOf(bytes);
  const stride = width * samples;
  try {
    const raw = inflateSync(data, { maxOutputLength: (stride + 1) * height });
    if (raw.length < (stride + 1) * height) return undefined;
    const plain = unfiltered(raw, { stride, height, samples });
    return { width, height, rgb: colours(plain, { kind, samples, palette }) };
  } catch {
    // What does not inflate is no picture.
    return undefined;
  }
}

function chunksOf(bytes: Buffer): { data: Buffer; palette: Uint8Array } {
  const data: Buffer[] = [];
  let palette = new Uint8Array();
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (name === "IDAT") data.push(body);
    if (name === "PLTE") palette = new Uint8Array(body);
    at += 12 + length;
  }
  return { data: Buffer.concat(data), palette };
}

type PngRows = { readonly stride: number; readonly height: number; readonly samples: number };

/** Each row says by how its bytes were made smaller: by what stands left, above, or between. */
function unfiltered(raw: Uint8Array, { stride, height, samples }: PngRows): Uint8Array {
  const out = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const left = x >= samples ? (out[y * stride + x - samples] ?? 0) : 0;
      const above = y > 0 ? (out[(y - 1) * stride + x] ?? 0) : 0;
      const corner = x >= samples && y > 0 ? (out[(y - 1) * stride + x - samples] ?? 0) : 0;
      const value = raw[y * (stride + 1) + 1 + x] ?? 0;
      out[y * stride + x] = value + foretold(filter, left, above, corner);
    }
  }
  return out;
}

function foretold(filter: number | undefined, left: number, above: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  if (filter !== 4) return 0;
  const guess = left + above - corner;
  const [toLeft, toAbove, toCorner] = [guess - left, guess - above, guess - corner].map(Math.abs) as [
    number,
    number,
    number,
  ];
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

function colours(
  plain: Uint8Array,
  { kind, samples, palette }: { kind: number; samples: number; palette: Uint8Array },
): Uint8Array {
  const count = plain.length / samples;
  const rgb = new Uint8Array(count * 3);
  for (let at = 0; at < count; at++) {
    const from = at * samples;
    const opacity = kind === 4 || kind === 6 ? (plain[from + samples - 1] ?? 255) / 255 : 1;
    for (let part = 0; part < 3; part++) {
      const value =
        kind === 3
          ? (palette[(plain[from] ?? 0) * 3 + part] ?? 0)
          : (plain[from + (kind === 2 || kind === 6 ? part : 0)] ?? 0);
      rgb[at * 3 + part] = Math.round(value * opacity);
    }
  }
  return rgb;
}
