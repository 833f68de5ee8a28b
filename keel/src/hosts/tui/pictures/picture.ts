/**
 * A picture in the scrollback, in the way that this terminal says it can: kitty's, iTerm's or sixel. Its words stand above
 * it and are all there is where it cannot. What is drawn comes from tools and models: only bytes that are a picture of a
 * known kind and size reach the terminal, in signs that end nothing. Pure.
 */
import type { Image } from "../../../protocol/message.ts";
import { decodePng } from "./png.ts";
import { sixelOf } from "./sixel.ts";

export type Graphics = "kitty" | "iterm" | "sixel" | "none";

export type PictureRoom = { readonly columns: number; readonly rows: number };

/** The better way where a terminal knows several. */
const ways: readonly Graphics[] = ["none", "sixel", "iterm", "kitty"];
export const betterGraphics = (one: Graphics, other: Graphics): Graphics =>
  ways.indexOf(one) >= ways.indexOf(other) ? one : other;

/** By the name that a terminal gives itself. */
export const graphicsOf = (name: string): Graphics =>
  /^(?:iTerm2|WezTerm)\b/i.test(name) ? "iterm" : "none";

const indent = 3;
/** More is not worth waiting for: the file is still there. */
const maxData = 4_000_000;
const mostRows = 16;
const mostColumns = 60;
/** A cell in pixels, at least: a picture is rather small than in the way. */
const cell = { width: 8, height: 16 };

/** Undefined where it cannot be drawn. The cursor ends at the left edge, below it. */
export function pictureBytes(image: Image, graphics: Graphics, room: PictureRoom): string | undefined {
  const { data, mediaType } = image;
  if (graphics === "none" || data.length > maxData || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
  const bytes = Buffer.from(data, "base64");
  const pixels = sizeOf(bytes, mediaType);
  if (!pixels) return undefined;
  const cells = cellsFor(pixels, room);
  const drawn = drawnBy[graphics]({ data, bytes, mediaType, cells });
  if (drawn === undefined) return undefined;
  // Room is made first: a terminal that has to scroll would take the cursor along.
  const space = "\r\n".repeat(cells.rows);
  return `${space}\u001b[${cells.rows}A\u001b[${indent}C\u001b7${drawn}\u001b8\r\u001b[${cells.rows}B`;
}

type ToDraw = {
  readonly data: string;
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly cells: PictureRoom;
};

const drawnBy: Readonly<Record<Exclude<Graphics, "none">, (of: ToDraw) => string | undefined>> = {
  kitty({ data, mediaType, cells: { columns, rows } }) {
    if (mediaType !== "image/png") return undefined;
    const pieces = data.match(/.{1,4096}/g) ?? [];
    return pieces
      .map((piece, at) => {
        const first = at === 0 ? `a=T,f=100,q=2,C=1,c=${columns},r=${rows},` : "";
        return `\u001b_G${first}m=${at < pieces.length - 1 ? 1 : 0};${piece}\u001b\\`;
      })
      .join("");
  },
  iterm: ({ data, bytes, cells: { columns, rows } }) =>
    `\u001b]1337;File=inline=1;size=${bytes.length};width=${columns};height=${rows};preserveAspectRatio=1:${data}\u0007`,
  sixel({ bytes, mediaType, cells: { columns, rows } }) {
    const picture = mediaType === "image/png" ? decodePng(bytes) : undefined;
    return picture && sixelOf(picture, { width: columns * cell.width, height: rows * cell.height });
  },
};

function cellsFor({ width, height }: PixelSize, room: PictureRoom): PictureRoom {
  const widest = Math.max(1, Math.min(mostColumns, room.columns - indent - 2, Math.ceil(width / cell.width)));
  const highest = Math.max(1, Math.min(mostRows, Math.floor(room.rows / 2)));
  const rowsAt = (columns: number): number => (columns * cell.width * height) / width / cell.height;
  const columns =
    rowsAt(widest) <= highest ? widest : Math.max(1, Math.floor((widest * highest) / rowsAt(widest)));
  return { columns, rows: Math.max(1, Math.min(highest, Math.ceil(rowsAt(columns)))) };
}

type PixelSize = { readonly width: number; readonly height: number };

/** By the bytes alone, whatever they are called. */
function sizeOf(bytes: Buffer, mediaType: string): PixelSize | undefined {
  const found =
    mediaType === "image/png" && bytes.length > 24 && bytes.toString("latin1", 1, 4) === "PNG"
      ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
      : mediaType === "image/gif" && bytes.length > 10 && bytes.toString("latin1", 0, 3) === "GIF"
        ? { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
        : mediaType === "image/jpeg"
          ? jpegSize(bytes)
          : undefined;
  return found && found.width > 0 && found.height > 0 ? found : undefined;
}

/** The size stands in the first frame header; every segment before it tells its own length. */
function jpegSize(bytes: Buffer): PixelSize | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const kind = bytes[at + 1] ?? 0;
    if (kind >= 0xc0 && kind <= 0xcf && kind !== 0xc4 && kind !== 0xc8 && kind !== 0xcc)
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
  }
  return undefined;
}
