/** The input as rows, with the place of the cursor. Long texts scroll within their few rows. */
import { shownSign, widthOfSign } from "../input/attachments.ts";
import type { Editor } from "../input/editor.ts";
import { columnIn, rowIndex, rowsOf } from "../input/motions.ts";
import { inertOne } from "../text/inert.ts";
import type { Signs } from "../text/signs.ts";
import { dim, role, span, type TextLine, type TextSpan } from "../text/styled.ts";
import { cellWidth, graphemes, isPlain, type WidthProfile } from "../text/width.ts";
import type { FootPlace } from "../writer/frame.ts";

export type InputLook = {
  readonly columns: number;
  readonly profile: WidthProfile;
  readonly signs: Signs;
  /** What stands there where nothing is typed. */
  readonly hint: string;
  /** What the input is for: words, a command of one's own, something to remember. */
  readonly kind: "words" | "shell" | "note";
};

export const promptCells = 2;

/** How many cells a row of the input has. */
export const inputCells = (columns: number): number => Math.max(4, columns - 3 - promptCells);

export function inputLines(
  editor: Editor,
  look: InputLook,
  most: number,
): { readonly lines: TextLine[]; readonly cursor: FootPlace } {
  const { signs, columns } = look;
  const mark =
    look.kind === "shell"
      ? role("asking", "! ")
      : look.kind === "note"
        ? role("running", "# ")
        : role("running", `${signs.prompt} `);
  if (editor.text === "")
    return {
      lines: [[mark, dim(look.hint.slice(0, inputCells(columns)))]],
      cursor: { row: 0, column: promptCells },
    };
  const widthOf = widthIn(editor, look.profile);
  const rows = rowsOf(editor.text, inputCells(columns), widthOf);
  const at = rowIndex(rows, editor.cursor);
  const room = Math.max(1, most);
  const first =
    rows.length <= room ? 0 : Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room));
  const lines = rows.slice(first, first + room).map((row, index): TextLine => {
    const place = first + index;
    const isCut = (index === 0 && first > 0) || (index === room - 1 && first + room < rows.length);
    const lead: TextSpan =
      place === 0
        ? mark
        : isCut
          ? dim(`${index === 0 ? signs.up : signs.down} `.slice(0, 2))
          : { text: "  " };
    return [lead, ...spansOf(editor, editor.text.slice(row.start, row.end))];
  });
  const row = rows[at] ?? { start: 0, end: 0 };
  const column = promptCells + columnIn(editor.text, row, editor.cursor, widthOf);
  return { lines, cursor: { row: at - first, column } };
}

const widthIn =
  ({ attachments }: Editor, profile: WidthProfile) =>
  (sign: string): number => {
    if (isPlain(sign)) return sign.length;
    const shown = shownSign(attachments, sign);
    return shown === sign ? cellWidth(safe(sign), profile) : widthOfSign(attachments)(sign);
  };

/** What is typed or pasted is shown, whatever it is: a control as its name. */
const safe = (sign: string): string => (sign === "\t" ? "    " : inertOne(sign));

function spansOf({ attachments }: Editor, text: string): TextSpan[] {
  if (isPlain(text)) return text === "" ? [] : [span(text)];
  const spans: TextSpan[] = [];
  let plain = "";
  for (const sign of graphemes(text)) {
    const shown = shownSign(attachments, sign);
    if (shown === sign) {
      plain += safe(sign);
      continue;
    }
    if (plain !== "") spans.push(span(plain));
    plain = "";
    spans.push(role("code", shown));
  }
  return plain === "" ? spans : [...spans, span(plain)];
}
