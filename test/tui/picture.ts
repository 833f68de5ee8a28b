// What a headless terminal shows, as an SVG: cells in their colours, in one of two themes.
import type { Screen } from "./screen.ts";

type Palette = {
  readonly back: string;
  readonly ink: string;
  readonly dim: string;
  readonly colours: readonly string[];
};

const palettes: Readonly<Record<"dark" | "light", Palette>> = {
  dark: {
    back: "#16181d",
    ink: "#d7dae0",
    dim: "#7d828c",
    colours: [
      "#3a3f4b",
      "#e5736f",
      "#8fc07a",
      "#e0b25b",
      "#6ba4e0",
      "#c08ad8",
      "#57b5bd",
      "#d7dae0",
      "#5c6370",
      "#f08a85",
      "#a5d58f",
      "#f0c878",
      "#88bbf2",
      "#d3a3ea",
      "#74cdd5",
      "#ffffff",
    ],
  },
  light: {
    back: "#fbfbf8",
    ink: "#24272e",
    dim: "#8b8f98",
    colours: [
      "#24272e",
      "#b3261e",
      "#2e7d32",
      "#9a6700",
      "#1558b0",
      "#7b3fa0",
      "#0b7285",
      "#5f636b",
      "#8b8f98",
      "#d0453c",
      "#3f9a45",
      "#b98300",
      "#2f74d0",
      "#9a5cc4",
      "#1391a6",
      "#ffffff",
    ],
  },
};

const cell = { width: 8.4, height: 18, size: 14 };

export function pictureOf(
  { terminal }: Pick<Screen, "terminal">,
  {
    theme = "dark",
    from,
    to,
    title = "",
    cursor: shows = "shown",
  }: {
    theme?: "dark" | "light";
    from?: number;
    to?: number;
    title?: string;
    cursor?: "shown" | "hidden";
  } = {},
): string {
  const palette = palettes[theme];
  const { active } = terminal.buffer;
  const first = from ?? active.baseY;
  const end = to ?? active.baseY + terminal.rows;
  const rows: string[] = [];
  for (let row = first; row < end; row++) {
    const line = active.getLine(row);
    if (line) rows.push(rowOf(line, terminal.cols, (row - first) * cell.height, palette));
  }
  const cursorRow = active.baseY + active.cursorY - first;
  const cursor = `<rect x="${(active.cursorX * cell.width).toFixed(1)}" y="${cursorRow * cell.height}" width="${cell.width}" height="${cell.height}" fill="${palette.ink}" opacity="0.35"/>`;
  const width = Math.ceil(terminal.cols * cell.width) + 24;
  const height = (end - first) * cell.height + 24;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    ...(title === "" ? [] : [`<title>${escaped(title)}</title>`]),
    `<rect width="100%" height="100%" rx="6" fill="${palette.back}"/>`,
    `<g transform="translate(12 12)" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${cell.size}" fill="${palette.ink}">`,
    ...rows,
    ...(shows === "shown" ? [cursor] : []),
    "</g></svg>\n",
  ].join("\n");
}

type BufferLine = NonNullable<ReturnType<Screen["terminal"]["buffer"]["active"]["getLine"]>>;

/** Neighbours of one look are one text. */
function rowOf(line: BufferLine, columns: number, y: number, palette: Palette): string {
  const parts: { x: number; text: string; style: string; back: string; cells: number }[] = [];
  for (let x = 0; x < columns; x++) {
    const at = line.getCell(x);
    if (!at || at.getWidth() === 0) continue;
    const isInverse = at.isInverse() !== 0;
    const ink = at.isFgDefault() ? palette.ink : colour(at.getFgColor(), at.isFgRGB(), palette);
    const ground = at.isBgDefault() ? "" : colour(at.getBgColor(), at.isBgRGB(), palette);
    const fill = isInverse ? ground || palette.back : at.isDim() && at.isFgDefault() ? palette.dim : ink;
    const style = [
      `fill="${fill}"`,
      at.isBold() ? 'font-weight="700"' : "",
      at.isItalic() ? 'font-style="italic"' : "",
      at.isUnderline()
        ? 'text-decoration="underline"'
        : at.isStrikethrough()
          ? 'text-decoration="line-through"'
          : "",
      at.isDim() && !at.isFgDefault() ? 'opacity="0.65"' : "",
    ]
      .filter(Boolean)
      .join(" ");
    const back = isInverse ? ink : ground;
    const last = parts.at(-1);
    const isWide = at.getWidth() === 2;
    const text = at.getChars() || " ";
    if (
      last &&
      last.style === style &&
      last.back === back &&
      last.x + last.cells === x &&
      !isWide &&
      /^[ -~]*$/.test(last.text + text)
    ) {
      last.text += text;
      last.cells++;
    } else parts.push({ x, text, style, back, cells: at.getWidth() });
  }
  return parts
    .filter(({ text, back }) => text.trim() !== "" || back !== "")
    .map(({ x, text, style, back, cells }) => {
      const left = (x * cell.width).toFixed(1);
      const rect =
        back === ""
          ? ""
          : `<rect x="${left}" y="${y}" width="${(cells * cell.width).toFixed(1)}" height="${cell.height}" fill="${back}"/>`;
      const shown = `<text x="${left}" y="${y + 13.5}" xml:space="preserve" textLength="${(cells * cell.width).toFixed(1)}" lengthAdjust="spacingAndGlyphs" ${style}>${escaped(text)}</text>`;
      return rect + (text.trim() === "" ? "" : shown);
    })
    .join("");
}

function colour(value: number, isRgb: boolean, palette: Palette): string {
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  if (value < 16) return palette.colours[value] ?? palette.ink;
  if (value >= 232) {
    const grey = (8 + (value - 232) * 10).toString(16).padStart(2, "0");
    return `#${grey}${grey}${grey}`;
  }
  const part = (of: number): string => [0, 95, 135, 175, 215, 255][of]?.toString(16).padStart(2, "0") ?? "00";
  const at = value - 16;
  return `#${part(Math.floor(at / 36))}${part(Math.floor(at / 6) % 6)}${part(at % 6)}`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
