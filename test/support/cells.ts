// What a terminal shows, cell for cell, so that two of them can be compared.
import headless, { type Terminal } from "@xterm/headless";

export type Painted = { readonly columns: number; readonly rows: number; readonly paint: string };

export const write = (terminal: Terminal, text: string): Promise<void> =>
  new Promise((resolve) => terminal.write(text, resolve));

/** An empty terminal on which a screen was painted. */
export async function painted({ columns, rows, paint }: Painted): Promise<Terminal> {
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 1_000, allowProposedApi: true });
  await write(terminal, paint);
  return terminal;
}

/** Every line of the screen with its styles, and the cursor. */
export function cellsOf(terminal: Terminal): string[] {
  const { active } = terminal.buffer;
  const lines = Array.from({ length: terminal.rows }, (_, row) => {
    const line = active.getLine(active.baseY + row);
    let shown = "";
    let style = "";
    for (let column = 0; column < terminal.cols; column++) {
      const cell = line?.getCell(column);
      if (!cell || cell.getWidth() === 0) continue;
      const chars = cell.getChars() || " ";
      const flags = [
        cell.isBold() && "b",
        cell.isItalic() && "i",
        cell.isUnderline() && "u",
        cell.isInverse() && "r",
        cell.isStrikethrough() && "s",
      ];
      // The colour of a blank's letter cannot be seen.
      const front = chars === " " ? "" : `${cell.getFgColorMode()}:${cell.getFgColor()}`;
      const now = `${flags.filter(Boolean).join("")}|${front}|${cell.getBgColorMode()}:${cell.getBgColor()}`;
      if (now !== style) shown += `{${now}}`;
      style = now;
      shown += chars;
    }
    return shown;
  });
  return [...lines, `${active.type} ${active.cursorX},${active.cursorY}`];
}

/** The letters of the screen. */
export function textOf(terminal: Terminal): string {
  const { active } = terminal.buffer;
  return Array.from({ length: terminal.rows }, (_, row) =>
    active.getLine(active.baseY + row)?.translateToString(true),
  ).join("\n");
}
