/**
 * The screen of a terminal, kept by a terminal without a window: whoever comes late is given what paints it, in place of
 * all bytes that led to it. The addon paints the cells; what it leaves out (a scroll region, the cursor at the end of a
 * full line, character sets, whether the cursor shows) is added here, or the next output would land elsewhere.
 */
import { SerializeAddon } from "@xterm/addon-serialize/lib/addon-serialize.mjs";
import headless, { type IBuffer, type IBufferCell, type IBufferLine, type Terminal } from "@xterm/headless";
import type { TerminalSize } from "./kept-output.ts";

export type ScreenShot = TerminalSize & {
  /** The output up to this position has made it. */
  readonly at: number;
  /** And the changes of size up to this number. */
  readonly sizeNumber: number;
  readonly paint: string;
};

/** Lines above the screen that are painted too. */
const scrollback = 1_000;

type Region = { readonly top: number; readonly bottom: number };
type CursorPlace = { readonly x: number; readonly y: number };
type SavedCursor = CursorPlace & { readonly style: string; readonly set: string | undefined };

export class TerminalScreen {
  readonly #terminal: Terminal;
  readonly #addon = new SerializeAddon();
  readonly #regions = new Map<string, Region>();
  readonly #saved = new Map<string, SavedCursor>();
  /** Private modes that the addon does not know, by their number. */
  readonly #modes = new Set<number>();
  readonly #waiting = new Set<(shot: ScreenShot) => void>();
  #isCursorHidden = false;
  #at: number;
  #sizeNumber = 0;
  #unparsed = 0;

  /** `reply` is told what the terminal answers to questions of the program. */
  constructor({ columns, rows, at, reply }: TerminalSize & { at: number; reply: (keys: string) => void }) {
    this.#at = at;
    this.#terminal = new headless.Terminal({
      cols: columns,
      rows,
      scrollback,
      allowProposedApi: true,
      // Nobody sees it: what only a picture needs is not worked out.
      logLevel: "off",
    });
    this.#terminal.loadAddon(this.#addon);
    this.#terminal.onData(reply);
    this.#listen();
  }

  /** How many characters wait to be read. */
  get unparsed(): number {
    return this.#unparsed;
  }

  /** `bytes`: how far this brings the position. Must end between two control sequences. Calls back when it was read. */
  write(text: string, bytes: number, done: () => void): void {
    this.#unparsed += text.length;
    this.#terminal.write(text, () => {
      this.#unparsed -= text.length;
      this.#at += bytes;
      done();
    });
  }

  /** Comes after all that was written before. */
  resize({ columns, rows }: TerminalSize, number: number): void {
    this.#terminal.write("", () => {
      this.#terminal.resize(columns, rows);
      this.#sizeNumber = number;
      this.#regions.clear();
    });
  }

  /** As it is when all that was written so far has been read. */
  shot(): Promise<ScreenShot> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      this.#terminal.write("", () => this.#give(resolve));
    });
  }

  /** Who waits for a screen gets it as it is. */
  close(): void {
    for (const waiting of [...this.#waiting]) this.#give(waiting);
    this.#terminal.dispose();
  }

  #give(waiting: (shot: ScreenShot) => void): void {
    if (this.#waiting.delete(waiting)) waiting(this.#take());
  }

  #take(): ScreenShot {
    const { cols: columns, rows } = this.#terminal;
    return { at: this.#at, sizeNumber: this.#sizeNumber, columns, rows, paint: this.#paint() };
  }

  #paint(): string {
    const { buffer } = this.#terminal;
    const isOther = buffer.active.type === "alternate";
    // The addon brings back lines above the screen, and which lines are one; the screen itself is painted over it, since
    // coloured blanks below the last letter and styles of the other screen get lost on its way.
    const above = this.#addon.serialize({ excludeModes: true, excludeAltBuffer: true });
    // The other screen keeps the cursor of this one, with its style, and gives it back.
    const kept = this.#saved.get("normal") ?? {
      x: buffer.normal.cursorX,
      y: buffer.normal.cursorY,
      style: "",
    };
    return [
      `${above}${paintRows(this.#terminal, buffer.normal)}`,
      isOther ? `${goTo(kept)}${kept.style}\u001b[?1049h${paintRows(this.#terminal, buffer.alternate)}` : "",
      this.#paintSaved(),
      this.#paintPlace(),
      this.#paintModes(),
      this.#paintCharsets(),
    ].join("");
  }

  #paintSaved(): string {
    const saved = this.#saved.get(this.#terminal.buffer.active.type);
    if (!saved) return "";
    const isDrawing = saved.set !== undefined;
    return `${goTo(saved)}${saved.style}${isDrawing ? `\u001b(${saved.set}` : ""}\u001b7${isDrawing ? "\u001b(B" : ""}`;
  }

  /** The scroll region, the cursor in it, and what the next character looks like. */
  #paintPlace(): string {
    const { buffer, cols, modes } = this.#terminal;
    const { type, cursorX: x, cursorY: y, baseY } = buffer.active;
    const region = this.#regions.get(type);
    const top = modes.originMode ? (region?.top ?? 1) - 1 : 0;
    const place = `${region ? `\u001b[${region.top};${region.bottom}r` : ""}${modes.originMode ? "\u001b[?6h" : ""}`;
    const style = currentStyle(this.#terminal);
    const now = style ? sgrOf(style) : "\u001b[0m";
    if (x < cols) return `${place}${goTo({ x, y: y - top })}${now}`;
    // A cursor behind the last column cannot be moved there: only a character that is printed there leaves it so.
    const line = buffer.active.getLine(baseY + y);
    const last = line?.getCell(cols - 1);
    const cell = last?.getWidth() === 0 ? line?.getCell(cols - 2) : last;
    if (!cell) return `${place}${goTo({ x: cols - 1, y: y - top })}${now}`;
    const from = cols - Math.max(1, cell.getWidth());
    return `${place}${goTo({ x: from, y: y - top })}${sgrOf(cell)}${cell.getChars() || " "}${now}`;
  }

  #paintModes(): string {
    const { modes } = this.#terminal;
    const tracking = { none: 0, x10: 9, vt200: 1000, drag: 1002, any: 1003 }[modes.mouseTrackingMode];
    const on = [
      ...(modes.applicationCursorKeysMode ? [1] : []),
      ...(modes.applicationKeypadMode ? [66] : []),
      ...(modes.bracketedPasteMode ? [2004] : []),
      ...(modes.reverseWraparoundMode ? [45] : []),
      ...(modes.sendFocusMode ? [1004] : []),
      ...(tracking === 0 ? [] : [tracking]),
      ...this.#modes,
    ];
    return [
      ...on.map((mode) => `\u001b[?${mode}h`),
      modes.insertMode ? "\u001b[4h" : "",
      modes.wraparoundMode ? "" : "\u001b[?7l",
      this.#isCursorHidden ? "\u001b[?25l" : "",
    ].join("");
  }

  #paintCharsets(): string {
    const { chosen = "B", shifted, current } = charsetsOf(this.#terminal);
    const designated = [
      ...(chosen === "B" ? [] : [`\u001b(${chosen}`]),
      ...(shifted.set === undefined ? [] : [`\u001b)${shifted.set}`]),
      shifted.isOn ? "\u000e" : "",
    ].join("");
    const now = shifted.isOn ? shifted.set : chosen === "B" ? undefined : chosen;
    if (current === now) return designated;
    // A cursor that came back brought its set along, while the slots stayed as they were.
    const saved = this.#saved.get(this.#terminal.buffer.active.type);
    if (saved?.set === current) return `${designated}\u001b8${this.#paintPlace()}`;
    return `${designated}\u001b${shifted.isOn ? ")" : "("}${current ?? "B"}`;
  }

  #listen(): void {
    const { parser } = this.#terminal;
    const type = (): string => this.#terminal.buffer.active.type;
    // False: the terminal does what it does with it all the same.
    const hear = (work: () => void) => (): boolean => {
      work();
      return false;
    };
    const save = hear(() => this.#save());
    parser.registerEscHandler({ final: "7" }, save);
    parser.registerCsiHandler({ final: "s" }, save);
    parser.registerCsiHandler({ final: "r" }, ([top = 0, bottom = 0]) => {
      const { rows } = this.#terminal;
      const last = Math.min(Number(bottom) || rows, rows);
      const first = Number(top) || 1;
      if (first === 1 && last === rows) this.#regions.delete(type());
      else if (first < last) this.#regions.set(type(), { top: first, bottom: last });
      return false;
    });
    parser.registerCsiHandler({ prefix: "?", final: "h" }, (modes) => this.#setModes(modes, true));
    parser.registerCsiHandler({ prefix: "?", final: "l" }, (modes) => this.#setModes(modes, false));
    const reset = hear(() => this.#reset());
    parser.registerEscHandler({ final: "c" }, reset);
    parser.registerCsiHandler({ intermediates: "!", final: "p" }, reset);
  }

  #save(): void {
    const { type, cursorX: x, cursorY: y } = this.#terminal.buffer.active;
    const style = currentStyle(this.#terminal);
    const { current: set } = charsetsOf(this.#terminal);
    this.#saved.set(type, { x, y, style: style ? sgrOf(style) : "\u001b[0m", set });
  }

  #setModes(modes: readonly (number | number[])[], isOn: boolean): boolean {
    for (const mode of modes) {
      if (mode === 25) this.#isCursorHidden = !isOn;
      if (isOn && (mode === 1048 || mode === 1049)) this.#save();
      // How a mouse is told of, and others whose state nothing else knows.
      if (mode === 1005 || mode === 1006 || mode === 1015 || mode === 1016 || mode === 12)
        if (isOn) this.#modes.add(mode);
        else this.#modes.delete(mode);
      if (!isOn && (mode === 47 || mode === 1047 || mode === 1049)) {
        this.#regions.delete("alternate");
        this.#saved.delete("alternate");
      }
    }
    return false;
  }

  #reset(): void {
    this.#regions.clear();
    this.#saved.clear();
    this.#modes.clear();
    this.#isCursorHidden = false;
  }
}

const goTo = ({ x, y }: CursorPlace): string => `\u001b[${y + 1};${x + 1}H`;

/** Every cell of a screen, where it stands. */
function paintRows(terminal: Terminal, buffer: IBuffer): string {
  const { cols, rows } = terminal;
  return Array.from({ length: rows }, (_, y) => {
    const line = buffer.getLine(buffer.baseY + y);
    return line ? `${goTo({ x: 0, y })}${paintLine(line, cols)}` : "";
  }).join("");
}

function paintLine(line: IBufferLine, columns: number): string {
  let painted = "";
  let style = "";
  let blanks = 0;
  const flush = (): void => {
    if (blanks > 0) painted += `\u001b[${blanks}X\u001b[${blanks}C`;
    blanks = 0;
  };
  for (let column = 0; column < columns; column++) {
    const cell = line.getCell(column);
    if (!cell || cell.getWidth() === 0) continue;
    const now = sgrOf(cell);
    if (now !== style) {
      flush();
      painted += now;
      style = now;
    }
    // What is erased keeps its colour only.
    if (cell.getChars() === "" && flagsOf(cell).length === 0) blanks += 1;
    else {
      flush();
      painted += cell.getChars() || " ";
    }
  }
  flush();
  return painted;
}

type Charset = Readonly<Record<string, string>> | undefined;
type Charsets = {
  readonly charset?: Charset;
  readonly glevel?: number;
  readonly _charsets?: readonly Charset[];
};

/** The character sets in both slots and the one in use; undefined is plain text. Read where the style is read. */
function charsetsOf(terminal: Terminal) {
  const inner = terminal as unknown as { _core?: { _charsetService?: Charsets } };
  const { charset, glevel, _charsets: slots } = inner._core?._charsetService ?? {};
  return {
    chosen: nameOfCharset(slots?.[0]),
    shifted: { set: nameOfCharset(slots?.[1]), isOn: glevel === 1 },
    current: nameOfCharset(charset),
  };
}

/** Line drawing and British signs are those that programs use; each is known by a sign that it alone changes so. */
function nameOfCharset(set: Charset): string | undefined {
  if (set?.["`"] === "\u25c6") return "0";
  return set?.["#"] === "\u00a3" && Object.keys(set).length === 1 ? "A" : undefined;
}

type StyledCell = Pick<
  IBufferCell,
  | "getFgColor"
  | "getBgColor"
  | "isFgRGB"
  | "isFgPalette"
  | "isBgRGB"
  | "isBgPalette"
  | "isBold"
  | "isDim"
  | "isItalic"
  | "isUnderline"
  | "isBlink"
  | "isInverse"
  | "isInvisible"
  | "isStrikethrough"
  | "isOverline"
>;

/** What the next character will look like. The terminal does not tell; its own addon reads it from here too. */
function currentStyle(terminal: Terminal): StyledCell | undefined {
  const inner = terminal as unknown as { _core?: { _inputHandler?: { _curAttrData?: StyledCell } } };
  return inner._core?._inputHandler?._curAttrData;
}

function flagsOf(cell: StyledCell): number[] {
  const flags: readonly (readonly [code: number, isOn: number])[] = [
    [1, cell.isBold()],
    [2, cell.isDim()],
    [3, cell.isItalic()],
    [4, cell.isUnderline()],
    [5, cell.isBlink()],
    [7, cell.isInverse()],
    [8, cell.isInvisible()],
    [9, cell.isStrikethrough()],
    [53, cell.isOverline()],
  ];
  return flags.flatMap(([code, isOn]) => (isOn ? [code] : []));
}

function sgrOf(cell: StyledCell): string {
  const colors = [
    ...colorOf(cell.getFgColor(), { isRgb: cell.isFgRGB(), isPalette: cell.isFgPalette(), base: 38 }),
    ...colorOf(cell.getBgColor(), { isRgb: cell.isBgRGB(), isPalette: cell.isBgPalette(), base: 48 }),
  ];
  return `\u001b[${[0, ...flagsOf(cell), ...colors].join(";")}m`;
}

function colorOf(
  color: number,
  { isRgb, isPalette, base }: { isRgb: boolean; isPalette: boolean; base: number },
): number[] {
  if (isRgb) return [base, 2, (color >>> 16) & 0xff, (color >>> 8) & 0xff, color & 0xff];
  if (!isPalette) return [];
  return color < 16 ? [base - 8 + (color < 8 ? color : color + 52)] : [base, 5, color];
}
