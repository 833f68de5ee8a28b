/** Questions with answers to pick from, as rows: what is asked, and below it the answers. */
import { inputLines } from "../foot/input-view.ts";
import { inertLines, inertOne } from "../text/inert.ts";
import { bold, clip, dim, role, span, type TextLine } from "../text/styled.ts";
import { wrapRows } from "../text/wrap.ts";
import type { DialogLook, DrawnPanel } from "./dialog-look.ts";
import type { QuestionsState } from "./questions.ts";

/** What is asked, as long as it is. */
export function questionRows({ questions, at }: QuestionsState, look: DialogLook): TextLine[] {
  const many = questions.length > 1 ? ` (${at + 1} of ${questions.length})` : "";
  return inertLines(questions[at]?.question ?? "").flatMap((line, index) =>
    wrapRows([span(`   ${line}`), ...(index === 0 ? [dim(many)] : [])], look.columns - 2, {
      profile: look.profile,
      hang: 3,
    }),
  );
}

export function questionsPart(state: QuestionsState, look: DialogLook): DrawnPanel {
  const question = state.questions[state.at];
  if (!question) return { lines: [], cursor: null };
  const { signs } = look;
  const asked = questionRows(state, look).length;
  const wholeOptions = question.options.map(({ label, description }, index): TextLine => {
    const isMarked = index === state.marked && !state.isWriting;
    const tick = question.multiSelect ? `${state.picked.has(index) ? signs.ticked : signs.unticked} ` : "";
    return [
      isMarked ? role("asking", ` ${signs.pointer} `) : { text: "   " },
      dim(`${index + 1} `),
      span(tick),
      isMarked ? bold(inertOne(label)) : span(inertOne(label)),
      dim(`  ${inertOne(description)}`),
    ];
  });
  const options = optionRows(wholeOptions, state.marked, look.most - asked - rowsBeside, look);
  const own = question.options.length;
  if (state.isWriting) {
    const drawn = inputLines(state.editor, { ...look, hint: "your own answer", kind: "words" }, 3);
    const cursor = { row: options.length + drawn.cursor.row, column: drawn.cursor.column };
    return { lines: [...options, ...drawn.lines], cursor };
  }
  const ownRow: TextLine = [
    state.marked === own ? role("asking", ` ${signs.pointer} `) : { text: "   " },
    dim(state.marked === own ? `In your own words ${signs.ellipsis}` : "or type your own answer"),
  ];
  const help = question.multiSelect ? [[dim("   Space marks, Enter takes what is marked")]] : [];
  const below = [ownRow, ...help].map((line) => clip(line, look.columns - 2, look));
  return { lines: [...options, ...below], cursor: null };
}

/** The head, what can be typed, and what keys mean. */
const rowsBeside = 4;
/** How far what goes on below an option is moved in. */
const optionHang = 5;

/** Whole, where there is room for it; else the marked one, and of the others their start. */
function optionRows(
  options: readonly TextLine[],
  marked: number,
  most: number,
  look: DialogLook,
): TextLine[] {
  const cells = look.columns - 2;
  const whole = (line: TextLine): TextLine[] =>
    wrapRows(line, cells, { profile: look.profile, hang: optionHang });
  const all = options.flatMap(whole);
  if (all.length <= most) return all;
  // None of the others goes out of sight for it.
  const room = Math.max(1, most - options.length + 1);
  const started = (line: TextLine): TextLine[] => {
    const rows = whole(line);
    const rest = rows.slice(room - 1).flat();
    return rows.length <= room ? rows : [...rows.slice(0, room - 1), clip(rest, cells, look)];
  };
  return options.flatMap((line, index) => (index === marked ? started(line) : [clip(line, cells, look)]));
}
