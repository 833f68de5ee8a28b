/** NotebookEdit: replaces, inserts or removes one cell of a notebook that was read and has not changed since. */
import * as z from "zod/mini";
import { present } from "../kernel/json.ts";
import { no, type Refused } from "../kernel/result.ts";
import { fingerprint, shorten } from "../kernel/text.ts";
import type { ToolContext } from "../ports/tool.ts";
import { builtInTool, failure, textField } from "./built-in.ts";
import { boundedText, changeFile, type FileRewrite, findExisting, whyNot } from "./change-file.ts";
import {
  type Cell,
  type CellType,
  findCell,
  idOf,
  linesOf,
  type Notebook,
  parseNotebook,
  printNotebook,
  sourceOf,
  withSource,
} from "./notebook.ts";
import { writeClaims } from "./target.ts";

/** Of a cell's new text; the model has just written it. */
const maxShownCharacters = 2_000;

const input = z.object({
  notebook_path: textField("Path of the .ipynb file, absolute or relative to the working directory."),
  cell_id: z.optional(
    textField(
      "The cell's id, or its number as Read shows it. insert: the cell to insert after; omit to insert at the start.",
    ),
  ),
  new_source: z._default(z.string(), "").check(z.describe("The new source of the cell.")),
  cell_type: z.optional(z.enum(["code", "markdown"]).check(z.describe("Cell type; required for insert."))),
  edit_mode: z
    ._default(z.enum(["replace", "insert", "delete"]), "replace")
    .check(z.describe("What to do with the cell.")),
});
type NotebookEditInput = z.infer<typeof input>;

export const notebookEditTool = builtInTool({
  name: "NotebookEdit",
  family: "edits",
  description: `Changes one cell of a Jupyter notebook: replaces its source, inserts a new cell after it, or deletes it. Read the notebook first. A code cell whose source changes loses its outputs.`,
  input,
  claims: ({ notebook_path }, context) => writeClaims(context, notebook_path),
  check: async (given, context) => whyNot(await planCell(given, context)),
  run: async function* (given, context) {
    const plan = await planCell(given, context);
    if (!plan.ok) return failure(plan.why);
    const { path, before, after } = plan;
    const { new_source, edit_mode } = given;
    const change = {
      ...plan,
      said: `${verbs[edit_mode]} cell ${plan.number} of ${path}`,
      ...(edit_mode === "delete" ? {} : { shows: shorten(new_source, maxShownCharacters) }),
      data: () => ({
        new_source,
        ...present({ old_source: plan.oldSource, cell_id: plan.cellId }),
        cell_type: plan.cellType,
        language: plan.language,
        edit_mode,
        notebook_path: path,
        original_file: boundedText(before),
        updated_file: boundedText(after),
      }),
    };
    return changeFile(change, context);
  },
});

const verbs = { replace: "Replaced", insert: "Inserted", delete: "Deleted" } as const;

type CellPlan = Pick<FileRewrite, "path" | "after" | "form" | "stamp"> & {
  readonly before: string;
  readonly language: string;
  readonly number: number;
  readonly cellId: string | undefined;
  readonly cellType: CellType;
  readonly oldSource: string | undefined;
};
type NotebookPlan = ({ readonly ok: true } & CellPlan) | Refused;

async function planCell(given: NotebookEditInput, context: ToolContext): Promise<NotebookPlan> {
  const { notebook_path } = given;
  if (!notebook_path.toLowerCase().endsWith(".ipynb"))
    return no(`${notebook_path} is not a notebook (.ipynb). Use Edit for other files.`);
  if (!given.new_source.isWellFormed())
    return no("new_source is not valid text: it holds half of a surrogate pair.");
  const found = await findExisting(notebook_path, context, "edit");
  if (!found.ok) return found;
  const { file, path, stamp } = found.existing;
  if (stamp === null) return no(`No such notebook: ${notebook_path}. Make it with Write first.`);
  if (!file?.isExact) return no(`${notebook_path} is not text in UTF-8.`);
  const read = parseNotebook(file.text);
  if (!read.ok) return no(`${notebook_path} is not a notebook that can be changed: ${read.why}.`);
  const done = changeCells(given, { notebook: read.notebook, callId: context.callId });
  if (!done.ok) return done;
  const { cells, ...facts } = done;
  const after = printNotebook(read.notebook, cells);
  return { ...facts, path, stamp, before: file.text, after, form: file, language: read.notebook.language };
}

type CellChange =
  | ({ readonly ok: true; readonly cells: Cell[] } & Pick<
      CellPlan,
      "number" | "cellId" | "cellType" | "oldSource"
    >)
  | Refused;

function changeCells(given: NotebookEditInput, context: { notebook: Notebook; callId: string }): CellChange {
  const { cells } = context.notebook;
  const { cell_id, edit_mode } = given;
  if (cell_id === undefined && edit_mode !== "insert") return no(`Name the cell to ${edit_mode} as cell_id.`);
  const at = cell_id === undefined ? -1 : findCell(cells, cell_id);
  if (at === undefined)
    return no(`There is no cell ${cell_id}; there are ${cells.length} cells. Read the notebook again.`);
  if (edit_mode === "insert") return insertCell(given, { ...context, at: at + 1 });
  const old = cells[at];
  if (!old) return no(`There is no cell ${cell_id}.`);
  const facts = { number: at + 1, cellId: idOf(old), oldSource: sourceOf(old) };
  if (edit_mode === "delete")
    return { ok: true, ...facts, cellType: old.cell_type, cells: cells.toSpliced(at, 1) };
  const fresh = replaced(old, given);
  return { ok: true, ...facts, cellType: fresh.cell_type, cells: cells.with(at, fresh) };
}

function insertCell(
  { cell_type, new_source }: NotebookEditInput,
  { notebook, callId, at }: { notebook: Notebook; callId: string; at: number },
): CellChange {
  if (cell_type === undefined) return no("To insert a cell, say its cell_type.");
  const { cells, hasIds } = notebook;
  const cellId = hasIds ? newId(cells, `${callId} ${at} ${new_source}`) : undefined;
  const fresh: Cell = {
    cell_type,
    ...(cell_type === "code" ? { execution_count: null } : {}),
    ...present({ id: cellId }),
    metadata: {},
    ...(cell_type === "code" ? { outputs: [] } : {}),
    source: linesOf(new_source),
  };
  return {
    ok: true,
    cells: cells.toSpliced(at, 0, fresh),
    number: at + 1,
    cellId,
    cellType: cell_type,
    oldSource: undefined,
  };
}

/** Outputs of another text would be a lie; a cell that becomes code needs the fields of code, and only then has them. */
function replaced(old: Cell, { new_source, cell_type }: NotebookEditInput): Cell {
  const type = cell_type ?? old.cell_type;
  const cell = withSource({ ...old, cell_type: type }, new_source);
  // A field that is there already keeps its place in the file.
  if (type === "code") return { ...cell, execution_count: null, outputs: [] };
  const { outputs: _, execution_count: __, ...bare } = cell;
  return { ...bare, cell_type: type };
}

/** From what is inserted and not by chance, so that the same call makes the same file. */
function newId(cells: readonly Cell[], seed: string): string {
  const taken = new Set(cells.map(idOf));
  for (let tries = 0; ; tries++) {
    const id = fingerprint(`${seed} ${tries}`).slice(0, 8);
    if (!taken.has(id)) return id;
  }
}
