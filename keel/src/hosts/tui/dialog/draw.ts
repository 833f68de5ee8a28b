/** A question as rows: what it is about, what is known of it, what can be picked. What does not fit is paged through. */
import { isObject } from "../../../kernel/json.ts";
import { undisguised } from "../../../kernel/text.ts";
import type { Ask } from "../../../protocol/ask.ts";
import { askOrigin, askTitle, askWords, keepings, sayExplanation } from "../../../view/ask-words.ts";
import { sayKind, sayValue } from "../../../view/forms.ts";
import { isGrave, sayWord } from "../../../view/say-command.ts";
import { inputLines } from "../foot/input-view.ts";
import { footRows } from "../foot/live.ts";
import type { Editor } from "../input/editor.ts";
import { shortPath } from "../rows/context.ts";
import { drawDisplay } from "../rows/display.ts";
import { targetOf } from "../rows/tool-row.ts";
import { diffLines, nearChanges } from "../text/diff.ts";
import { approvedLines, inertOne } from "../text/inert.ts";
import {
  asIs,
  bold,
  clip,
  dim,
  farthestEdge,
  lineWidth,
  type PrintLine,
  role,
  sides,
  span,
  type TextLine,
  type TextSpan,
} from "../text/styled.ts";
import { wrapRows } from "../text/wrap.ts";
import type { Button } from "./buttons.ts";
import type { Dialog } from "./dialog.ts";
import type { CallExplanation, DialogLook, DrawnPanel } from "./dialog-look.ts";
import { questionRows, questionsPart } from "./draw-questions.ts";
import type { FieldsState } from "./fields.ts";

export function drawDialog(dialog: Dialog, look: DialogLook): DrawnPanel {
  const { step } = dialog;
  const head = titleLine(dialog, look);
  if (step.kind === "questions")
    return withBody(
      head,
      questionRows(step.state, look),
      questionsPart(step.state, look),
      look,
      dialog.scroll,
    );
  if (step.kind === "fields") return withBody(head, [], fieldsPart(step.state, look), look, dialog.scroll);
  return withBody(head, bodyRows(dialog.ask, look), footPart(dialog, look), look, dialog.scroll);
}

const cellsOf = ({ columns }: DialogLook): number => columns - 2;

function titleLine({ ask, step }: Dialog, look: DialogLook): TextLine {
  const { count, place, signs } = look;
  const title = step.kind === "keep" ? askWords.forHowLong : askTitle(ask);
  const origin = askOrigin(ask);
  const notes = [
    ...(count > 1 ? [`${place} of ${count}`] : []),
    ...(origin === undefined ? [] : [origin]),
    ...(look.hasKeys ? [] : ["pause typing to answer"]),
  ];
  return sides(
    [role("asking", ` ${title}`, { bold: true })],
    [dim(notes.join(` ${signs.dot} `))],
    Math.min(cellsOf(look), farthestEdge),
    look,
  );
}

/** What it is about, to the last sign; then why it is asked, and what is known of it. */
function bodyRows(ask: Ask, look: DialogLook): TextLine[] {
  const rows = bodyLines(ask, look).flatMap((line) => footRows(line, look));
  const found = look.explanation ? sayExplanation(look.explanation) : [];
  const why = [
    ...(ask.reason === undefined ? [] : [inertOne(ask.reason)]),
    ...(found.length === 0 ? [] : [found.join(` ${look.signs.dot} `)]),
    // Of the words of a command those that somebody should look at.
    ...graveWords(look.explanation).map((word) => `${inertOne(word.text)}: ${sayWord(word)}`),
  ];
  const said = why.flatMap((line) =>
    wrapRows([dim(`   ${line}`)], cellsOf(look), { profile: look.profile, hang: 3 }),
  );
  return [...rows, ...said];
}

function graveWords(explanation: CallExplanation | undefined) {
  const words = (explanation?.commands ?? []).flatMap((command) => command.words).filter(isGrave);
  return [...new Map(words.map((word) => [word.text, word])).values()];
}

function bodyLines(ask: Ask, look: DialogLook): readonly PrintLine[] {
  const { body } = ask;
  const shown = (text: string): PrintLine[] => approvedLines(text).map((line) => movedIn(asIs(span(line))));
  if (body.kind === "terminal") return shown(body.command);
  if (body.kind === "diff")
    return [
      movedIn(asIs(span(inertOne(shortPath(body.path, look))))),
      ...diffLines(nearChanges(body.hunks), { signs: look.signs, indent: 2 }),
    ];
  if (body.kind === "text") return inputLinesOf(ask, body.text)?.flatMap(shown) ?? shown(body.text);
  const context = {
    ...look,
    target: targetOf(ask.input ?? null, look),
    isRunning: false,
    failed: false,
    extent: "all" as const,
  };
  return drawDisplay(body, { ...context, columns: look.columns - 3 }).body.map(movedIn);
}

/** What a call is given, field by field, where its question ends with all of it in one line. */
function inputLinesOf({ kind, input, claims = [] }: Ask, text: string): string[] | undefined {
  const whole = undisguised(JSON.stringify(input) ?? "");
  if (kind !== "permission" || !isObject(input) || !text.endsWith(`\n${whole}`)) return undefined;
  const said = new Set(claims.map(({ target }) => target));
  return [
    text.slice(0, -whole.length - 1),
    ...Object.entries(input)
      .filter(([, value]) => typeof value !== "string" || !said.has(value))
      .map(([name, value]) => undisguised(`${JSON.stringify(name).slice(1, -1)}: ${JSON.stringify(value)}`)),
  ];
}

const movedIn = (line: PrintLine): PrintLine => ({
  ...line,
  spans: line.spans.length === 0 ? [] : [span("   "), ...line.spans],
  hang: (line.hang ?? 0) + 3,
});

function footPart({ step, buttons, marked }: Dialog, look: DialogLook): DrawnPanel {
  switch (step.kind) {
    case "keep":
      return plainPart(
        [
          // What will be allowed is read to its last sign.
          ...wrapRows(
            [dim(`   ${inertOne(step.button.option.rule ?? "")}`), ...preview(step.button)],
            cellsOf(look),
            { profile: look.profile, hang: 3 },
          ),
          ...keepings.map(({ key, label }, index) => choiceRow(label, key, index === step.marked, look)),
        ],
        look,
      );
    case "words":
      return writingPart(step.editor, askWords.insteadLabel, "Enter says no, Esc goes back", look);
    case "edit": {
      const help =
        step.problem === ""
          ? dim("   Enter allows it as it stands here, Esc goes back")
          : role("failed", `   ${step.problem}`);
      const part = writingPart(step.editor, "", "", look);
      return { ...part, lines: [...part.lines, clip([help], cellsOf(look), look)] };
    }
    default:
      return plainPart(buttonRows(buttons, marked, look), look);
  }
}

const preview = ({ option }: Button): TextSpan[] =>
  option?.preview === undefined ? [] : [dim(`: ${inertOne(option.preview)}`)];

const plainPart = (lines: readonly TextLine[], look: DialogLook): DrawnPanel => ({
  lines: lines.map((line) => clip(line, cellsOf(look), look)),
  cursor: null,
});

function writingPart(editor: Editor, hint: string, help: string, look: DialogLook): DrawnPanel {
  const drawn = inputLines(editor, { ...look, hint, kind: "words" }, Math.max(1, Math.min(6, look.most - 5)));
  const below: TextLine[] = help === "" ? [] : [clip([dim(`   ${help}`)], cellsOf(look), look)];
  return { ...drawn, lines: [...drawn.lines, ...below] };
}

/** As many in a row as fit. */
function buttonRows(buttons: readonly Button[], marked: number, look: DialogLook): TextLine[] {
  const rows: TextLine[] = [];
  for (const [index, { label, key }] of buttons.entries()) {
    const button = choiceRow(label, key, index === marked, look);
    const last = rows.at(-1);
    const joined = last && [...last, span("  "), ...button];
    if (joined && lineWidth(joined, look.profile) <= cellsOf(look)) rows[rows.length - 1] = joined;
    else rows.push(button);
  }
  return rows;
}

function choiceRow(label: string, key: string, isMarked: boolean, { signs }: DialogLook): TextLine {
  const said = label.replace(/ …$/, ` ${signs.ellipsis}`);
  return [
    isMarked ? role("asking", ` ${signs.pointer} `) : { text: "   " },
    isMarked ? bold(said) : span(said),
    dim(`  ${isMarked ? signs.enter : key}`),
  ];
}

function fieldsPart(state: FieldsState, look: DialogLook): DrawnPanel {
  const field = state.fields[state.at];
  if (!field) return { lines: [], cursor: null };
  const cells = cellsOf(look);
  const { signs } = look;
  const needed = field.isNeeded ? "needed" : "may be left out";
  const head: TextLine[] = [
    sides(
      [bold(`   ${inertOne(field.title)}`)],
      [dim(`${state.at + 1} of ${state.fields.length} ${signs.dot} ${needed}`)],
      Math.min(cells, farthestEdge),
      look,
    ),
    ...(field.description === ""
      ? []
      : wrapRows([dim(`   ${inertOne(field.description)}`)], cells, { profile: look.profile, hang: 3 })),
  ];
  const problem: TextLine[] =
    state.problem === "" ? [] : [clip([role("failed", `   ${state.problem}`)], cells, look)];
  const { kind } = field;
  if (state.isWriting) {
    const preset = field.preset === undefined ? "" : `, or nothing for ${sayValue(field.preset, kind)}`;
    const drawn = inputLines(
      state.editor,
      { ...look, hint: `${sayKind(kind)}${inertOne(preset)}`, kind: "words" },
      3,
    );
    return {
      lines: [...head, ...drawn.lines, ...problem],
      cursor: { row: head.length + drawn.cursor.row, column: drawn.cursor.column },
    };
  }
  const value = state.values[field.name];
  const picked = Array.isArray(value) ? value : [];
  const labels = "choices" in kind ? kind.choices.map(({ label }) => label) : ["Yes", "No"];
  const rows = labels.map((label, index): TextLine => {
    const isMarked = index === state.marked;
    const choice = "choices" in kind ? kind.choices[index]?.value : undefined;
    const tick =
      kind.type === "choices" ? `${picked.includes(choice ?? "") ? signs.ticked : signs.unticked} ` : "";
    return clip(
      [
        isMarked ? role("asking", ` ${signs.pointer} `) : { text: "   " },
        dim(`${index + 1} `),
        span(`${tick}${inertOne(label)}`),
      ],
      cells,
      look,
    );
  });
  return { lines: [...head, ...rows, ...problem], cursor: null };
}

/** Of what a question is about so much is seen at least, with the row that counts the rest. */
const leastBody = 3;

/** The head and the choices are always seen; of what is between as much as there is room for. */
function withBody(
  head: TextLine,
  body: readonly TextLine[],
  foot: DrawnPanel,
  look: DialogLook,
  scroll: number,
): DrawnPanel {
  const { most, signs } = look;
  const footRoom = Math.max(1, most - 1 - Math.min(body.length, leastBody));
  const footLines = fitted(foot, footRoom);
  const room = Math.max(0, most - 1 - footLines.lines.length);
  if (body.length <= room) return joined(head, body, footLines);
  // A single row is of what is asked about: it is paged through without being told how much there is.
  const marks = room > 1 ? 1 : 0;
  const window = Math.max(0, room - marks);
  const last = Math.max(0, body.length - window);
  const first = Math.min(scroll, last);
  const left = body.length - first - window;
  const said = [
    ...(first > 0 ? [`${first} ${first === 1 ? "row" : "rows"} above`] : []),
    ...(left > 0 ? [`${left} more ${left === 1 ? "row" : "rows"} below`] : []),
  ].join(", ");
  const mark: TextLine = clip([dim(`   ${signs.ellipsis} ${said} (PgUp, PgDn)`)], cellsOf(look), look);
  const shown = [...body.slice(first, first + window), ...(marks > 0 ? [mark] : [])];
  return { ...joined(head, shown, footLines), page: { rows: window, last } };
}

function joined(head: TextLine, body: readonly TextLine[], foot: DrawnPanel): DrawnPanel {
  const lines = [head, ...body, ...foot.lines];
  const row = 1 + body.length + (foot.cursor?.row ?? 0);
  return { lines, cursor: foot.cursor && { row, column: foot.cursor.column } };
}

/** Where even the choices have more rows than there are, those around the marked one. */
function fitted(part: DrawnPanel, most: number): DrawnPanel {
  if (part.lines.length <= most) return part;
  const marked =
    part.cursor?.row ?? part.lines.findIndex((line) => line.some(({ style }) => style?.role === "asking"));
  const first = Math.max(0, Math.min(marked - Math.floor(most / 2), part.lines.length - most));
  return {
    lines: part.lines.slice(first, first + most),
    cursor: part.cursor && { row: part.cursor.row - first, column: part.cursor.column },
  };
}
