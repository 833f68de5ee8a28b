/** Pixels as sixel: bands of six rows, one pass for each colour of a band, in a cube of 216 colours. Pure. */
import type { Pixels } from "./png.ts";

const levels = 6;

/** Fitted into a box by the nearest pixel. */
export function sixelOf(picture: Pixels, box: { readonly width: number; readonly height: number }): string {
  const scale = Math.min(1, box.width / picture.width, box.height / picture.height);
  const width = Math.max(1, Math.floor(picture.width * scale));
  const height = Math.max(1, Math.floor(picture.height * scale));
  const colourAt = (x: number, y: number): number => {
    const from = Math.floor(y / scale) * picture.width + Math.floor(x / scale);
    const level = (part: number): number =>
      Math.round(((picture.rgb[from * 3 + part] ?? 0) / 255) * (levels - 1));
    return level(0) * levels * levels + level(1) * levels + level(2);
  };
  const bands: string[] = [];
  const used = new Set<number>();
  for (let top = 0; top < height; top += 6) {
    const rows = new Map<number, Uint8Array>();
    for (let y = top; y < Math.min(top + 6, height); y++)
      for (let x = 0; x < width; x++) {
        const colour = colourAt(x, y);
        const row = rows.get(colour) ?? new Uint8Array(width);
        row[x] = (row[x] ?? 0) | (1 << (y - top));
        rows.set(colour, row);
        used.add(colour);
      }
    bands.push([...rows].map(([colour, row]) => `#${colour}${runsOf(row)}`).join("$"));
  }
  const percent = (level: number): number => Math.round((level / (levels - 1)) * 100);
  const palette = [...used].map((colour) => {
    const [red, green, blue] = [Math.floor(colour / 36), Math.floor(colour / 6) % 6, colour % 6];
    return `#${colour};2;${percent(red)};${percent(green)};${percent(blue)}`;
  });
  return `\u001bP0;1q"1;1;${width};${height}${palette.join("")}${bands.join("-")}\u001b\\`;
}

/** Signs that repeat are counted. */
function runsOf(row: Uint8Array): string {
  let text = "";
  for (let at = 0; at < row.length; ) {
    let end = at + 1;
    while (end < row.length && row[end] === row[at]) end++;
    const sign = String.fromCharCode(63 + (row[at] ?? 0));
    text += end - at > 3 ? `!${end - at}${sign}` : sign.repeat(end - at);
    at = end;
  }
  return text;
}
