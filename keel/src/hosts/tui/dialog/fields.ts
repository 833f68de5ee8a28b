/** A form of a server, field by field: written, checked when it is left, and sent when all of it is right. */
import type { JsonObject } from "../../../kernel/json.ts";
import { type Field, type FieldValue, fillFields, valueIn } from "../../../view/forms.ts";
import { type Editor, edit, emptyEditor } from "../input/editor.ts";
import { type DialogKey, typed } from "./typing.ts";

export type FieldsState = {
  readonly fields: readonly Field[];
  readonly at: number;
  readonly values: Readonly<Record<string, FieldValue | undefined>>;
  /** What is written in the field; of a choice, what is marked. */
  readonly editor: Editor;
  readonly marked: number;
  readonly isWriting: boolean;
  readonly problem: string;
};

export const fieldsOfForm = (fields: readonly Field[]): FieldsState => at({ fields, values: {} }, 0);

function at({ fields, values }: Pick<FieldsState, "fields" | "values">, place: number): FieldsState {
  const field = fields[place];
  const hasChoices = field !== undefined && "choices" in field.kind;
  const preset = field?.preset;
  const text = preset === undefined || hasChoices ? "" : String(preset);
  return {
    fields,
    values,
    at: place,
    editor: edit(emptyEditor, { type: "set", text }),
    marked: 0,
    isWriting: field !== undefined && !hasChoices && field.kind.type !== "yes-no",
    problem: "",
  };
}

type FieldsNext =
  | { readonly kind: "open"; readonly state: FieldsState }
  | { readonly kind: "done"; readonly values: JsonObject }
  | { readonly kind: "cancelled" };

const open = (state: FieldsState): FieldsNext => ({ kind: "open", state });

export function fieldsKey(state: FieldsState, key: DialogKey): FieldsNext {
  const field = state.fields[state.at];
  if (!field) return send(state);
  if (key.name === "escape") return { kind: "cancelled" };
  if (key.name === "shift+tab" && state.at > 0) return open(at(state, state.at - 1));
  const { kind } = field;
  if (kind.type === "yes-no") {
    const said = /^[yn]$/i.test(key.name) ? key.name.toLowerCase() === "y" : undefined;
    if (said !== undefined) return leave(state, field, said);
    if (key.action === "previous-choice" || key.action === "next-choice" || key.action === "toggle")
      return open({ ...state, marked: 1 - state.marked });
    return key.name === "enter" ? leave(state, field, state.marked === 0) : open(state);
  }
  if ("choices" in kind) {
    const count = kind.choices.length;
    const digit = /^[1-9]$/.test(key.name) ? Number(key.name) - 1 : undefined;
    const marked = digit !== undefined && digit < count ? digit : state.marked;
    const value = kind.choices[marked]?.value ?? "";
    if (kind.type === "choices") {
      const before = state.values[field.name];
      const picked = Array.isArray(before) ? before : [];
      if (digit !== undefined || key.action === "toggle") {
        const next = picked.includes(value) ? picked.filter((one) => one !== value) : [...picked, value];
        return open({ ...state, marked, values: { ...state.values, [field.name]: next } });
      }
      if (key.name === "enter") return leave(state, field, picked.length > 0 ? picked : undefined);
    } else if (digit !== undefined || key.name === "enter") return leave({ ...state, marked }, field, value);
    if (key.action === "previous-choice") return open({ ...state, marked: (marked - 1 + count) % count });
    if (key.action === "next-choice") return open({ ...state, marked: (marked + 1) % count });
    return open({ ...state, marked });
  }
  if (key.name !== "enter" && key.name !== "tab")
    return open({ ...state, editor: typed(state.editor, key), problem: "" });
  const line = state.editor.text;
  if (line.trim() === "") return leave(state, field, undefined);
  const read = valueIn(line, kind);
  return read.ok ? leave(state, field, read.value) : open({ ...state, problem: read.error });
}

function leave(state: FieldsState, field: Field, value: FieldValue | undefined): FieldsNext {
  const checked = fillFields([field], { [field.name]: value });
  if (!checked.ok) return open({ ...state, problem: checked.error[field.name] ?? "That does not fit." });
  const values = { ...state.values, [field.name]: value };
  const next = at({ fields: state.fields, values }, state.at + 1);
  return state.at + 1 < state.fields.length ? open(next) : send(next);
}

function send(state: FieldsState): FieldsNext {
  const filled = fillFields(state.fields, state.values);
  if (filled.ok) return { kind: "done", values: filled.value };
  const wrong = state.fields.findIndex(({ name }) => Object.hasOwn(filled.error, name));
  const place = Math.max(0, wrong);
  const problem = filled.error[state.fields[place]?.name ?? ""] ?? "";
  return open({ ...at(state, place), problem });
}
