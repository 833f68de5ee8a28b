import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Image } from "../../../protocol/message.ts";
import { betterGraphics, graphicsOf, pictureBytes } from "./picture.ts";
import { decodePng } from "./png.ts";
import { sixelOf } from "./sixel.ts";

const room = { columns: 80, rows: 24 };

function chunk(name: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  return Buffer.concat([length, Buffer.from(name, "latin1"), body, Buffer.alloc(4)]);
}

/** Rows as they stand in the file, each with its filter before it. */
function png(width: number, height: number, kind: number, rows: number[][], palette: number[] = []): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, kind, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"),
    chunk("IHDR", header),
    ...(palette.length > 0 ? [chunk("PLTE", Buffer.from(palette))] : []),
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const image = (bytes: Buffer, mediaType = "image/png"): Image => ({
  type: "image",
  mediaType,
  data: bytes.toString("base64"),
});

const red = png(1, 1, 2, [[0, 255, 0, 0]]);

describe("a picture", () => {
  test("goes to the terminal in its own way, whole, and leaves the cursor below it", () => {
    const wide = png(
      160,
      32,
      2,
      Array.from({ length: 32 }, () => [0, ...Array<number>(480).fill(9)]),
    );
    const kitty = pictureBytes(image(wide), "kitty", room) ?? "";
    const pieces = kitty
      .split("\u001b_G")
      .slice(1)
      .map((piece) => (piece.split("\u001b\\")[0] ?? "").split(";"));
    expect(pieces[0]?.[0]).toContain("f=100");
    expect(pieces[0]?.[0]).toContain("c=20,r=2,");
    expect(pieces.map(([, data]) => data).join("")).toBe(image(wide).data);
    expect(kitty.startsWith("\r\n\r\n\u001b[2A")).toBe(true);
    expect(kitty.endsWith("\u001b8\r\u001b[2B")).toBe(true);
    const iterm = pictureBytes(image(wide), "iterm", room) ?? "";
    expect(iterm).toContain(`width=20;height=2;preserveAspectRatio=1:${image(wide).data}\u0007`);
    expect(pictureBytes(image(wide), "sixel", room)).toContain('"1;1;160;32');
    expect(pictureBytes(image(wide), "none", room)).toBeUndefined();
  });

  test("takes at most half the screen and never the edge", () => {
    const high = png(
      10,
      4_000,
      0,
      Array.from({ length: 4_000 }, () => [0, ...Array<number>(10).fill(1)]),
    );
    expect(pictureBytes(image(high), "kitty", { columns: 20, rows: 10 })).toContain("r=5,");
    const broad = png(
      4_000,
      10,
      0,
      Array.from({ length: 10 }, () => [0, ...Array<number>(4_000).fill(1)]),
    );
    expect(pictureBytes(image(broad), "kitty", { columns: 20, rows: 10 })).toContain("c=15,");
  });

  test("that is none, or hides something, is not drawn", () => {
    const evil = "AAAA\u001b]52;c;eA==\u0007";
    expect(
      pictureBytes({ type: "image", mediaType: "image/png", data: evil }, "kitty", room),
    ).toBeUndefined();
    expect(pictureBytes(image(Buffer.from("no picture at all, only words")), "iterm", room)).toBeUndefined();
    expect(pictureBytes(image(red.subarray(0, 40)), "sixel", room)).toBeUndefined();
    expect(pictureBytes(image(red, "image/svg+xml"), "iterm", room)).toBeUndefined();
    expect(pictureBytes(image(png(0, 0, 2, [])), "iterm", room)).toBeUndefined();
  });

  test("is drawn in the best way that the terminal names", () => {
    expect(betterGraphics("sixel", "kitty")).toBe("kitty");
    expect(betterGraphics("iterm", "sixel")).toBe("iterm");
    expect(graphicsOf("iTerm2 3.5.0")).toBe("iterm");
    expect(graphicsOf("xterm.js(5.6)")).toBe("none");
  });
});

describe("a PNG", () => {
  test("gives its pixels by every filter and kind of colour", () => {
    const grey = png(3, 5, 0, [
      [0, 10, 20, 30],
      [1, 10, 10, 10],
      [2, 1, 1, 1],
      [3, 5, 5, 5],
      [4, 1, 1, 1],
    ]);
    const { rgb = new Uint8Array() } = decodePng(grey) ?? {};
    const one = [...rgb].filter((_, at) => at % 3 === 0);
    expect(one).toEqual([10, 20, 30, 10, 20, 30, 11, 21, 31, 10, 20, 30, 11, 21, 31]);
    expect([...(decodePng(png(1, 1, 3, [[0, 1]], [0, 0, 0, 7, 8, 9]))?.rgb ?? [])]).toEqual([7, 8, 9]);
    expect([...(decodePng(png(1, 1, 6, [[0, 200, 100, 50, 0]]))?.rgb ?? [])]).toEqual([0, 0, 0]);
    expect(decodePng(red)?.rgb).toEqual(new Uint8Array([255, 0, 0]));
  });

  test("becomes sixels that give the same colours again", () => {
    const rgb = new Uint8Array([255, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 255]);
    const bytes = sixelOf({ width: 2, height: 2, rgb }, { width: 10, height: 10 });
    expect(bytes).toBe('\u001bP0;1q"1;1;2;2#180;2;100;0;0#5;2;0;0;100#180B?$#5?B\u001b\\');
  });
});
