/** The settings as a panel: every one with its value and where that comes from; picking one changes it. */
import { isObject, type JsonObject } from "../../../kernel/json.ts";
import type { SettingRow } from "../../../protocol/inquiry.ts";
import { edit } from "../input/editor.ts";
import { just } from "../screen/on-event.ts";
import { listPanel, type PanelItem } from "../screen/panel.ts";
import { allClosed, ask, closed, push, ready, type ScreenRow } from "../screen/screen-row.ts";

export const configScreens: readonly ScreenRow[] = [
  {
    names: ["config", "settings"],
    open: (state, args) => {
      const [, name = "", text = ""] = /^(\S+)\s+(\S[\s\S]*)$/.exec(args.trim()) ?? [];
      if (name !== "") return just(state, { type: "set-setting", name, text: text.trim() });
      const help = "Enter changes it, in your own settings";
      const panel = listPanel("config", "Settings", "loading", help, "No setting is given.");
      return push(state, panel, { type: "settings-schema" });
    },
    fill: (panel, got, { settingsSchema }) =>
      got.what === "inquiry" && got.name === "settings"
        ? ready(panel, itemsOf(got.answer.rows, settingsSchema))
        : panel,
    choose: (state, item, key) => {
      if (key !== "enter" || state.settingsSchema === null) return just(state);
      const form = leavesOf(state.settingsSchema).find(({ name }) => name === item.id);
      if (!form) return just(state);
      if (form.values.length === 0)
        return just(
          allClosed({
            ...state,
            editor: edit(state.editor, { type: "set", text: `/config ${form.name} ` }),
          }),
        );
      const values = form.values.map((value) => ({ id: `${form.name} ${value}`, label: value, note: "" }));
      const usual = { id: form.name, label: "As usual", note: "" };
      return push(state, {
        ...listPanel("config-value", form.name, [...values, usual], form.says),
      });
    },
  },
  {
    names: ["config-value"],
    inner: true,
    open: (state) => just(state),
    choose: (state, item) => {
      const [name = "", text] = item.id.split(" ");
      return just(closed(state), { type: "set-setting", name, text }, ask("settings", "config"));
    },
  },
];

type SettingForm = {
  readonly name: string;
  readonly says: string;
  /** What it may be; none where it is typed. */
  readonly values: readonly string[];
};

/** Those that hold one value: what is a list or a table is written in the file. */
export function leavesOf(schema: JsonObject, path: readonly string[] = []): SettingForm[] {
  const { properties } = schema;
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, form]): SettingForm[] => {
    if (!isObject(form)) return [];
    const name = [...path, key];
    if (isObject(form["properties"])) return leavesOf(form, name);
    const says = typeof form["description"] === "string" ? form["description"] : "";
    const values = Array.isArray(form["enum"]) ? form["enum"].map(String) : [];
    if (form["type"] === "boolean") return [{ name: name.join("."), says, values: ["true", "false"] }];
    const isOne = ["string", "number", "integer"].includes(String(form["type"]));
    return isOne ? [{ name: name.join("."), says, values }] : [];
  });
}

/** What somebody said first, with its source; then what else there is. */
function itemsOf(rows: readonly SettingRow[], schema: JsonObject | null): PanelItem[] {
  const said = rows.map(({ name, value, source, state: counts, why }): PanelItem => {
    const note = counts === "counts" ? source : `${source}, ${why ?? counts}`;
    return {
      id: name,
      label: `${name} = ${JSON.stringify(value) ?? ""}`,
      note,
      mark: counts === "counts" ? "done" : "failed",
    };
  });
  const known = new Set(rows.map(({ name }) => name));
  const others = schema === null ? [] : leavesOf(schema).filter(({ name }) => !known.has(name));
  return [...said, ...others.map(({ name, says }) => ({ id: name, label: name, note: says }))];
}
