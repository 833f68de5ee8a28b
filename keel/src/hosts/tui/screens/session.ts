/** Screens about the session itself: which one, with what, from where on. */
import { permissionModes } from "../../../protocol/settings.ts";
import { edit } from "../input/editor.ts";
import { searchHistory } from "../input/history.ts";
import type { Effect } from "../screen/effects.ts";
import { just } from "../screen/on-event.ts";
import { listPanel, shownItems } from "../screen/panel.ts";
import { allClosed, ask, push, ready, type ScreenRow, sayAgo, set } from "../screen/screen-row.ts";
import { rewindLines } from "../screen/screen-texts.ts";
import { rowContext } from "../screen/state.ts";

export const sessionScreens: readonly ScreenRow[] = [
  {
    names: ["history"],
    inner: true,
    open: (state) => {
      const entries = searchHistory(state.history, "", 500);
      const items = entries.map((text, index) => ({
        id: String(index),
        label: text.replace(/\s+/g, " "),
        note: "",
      }));
      return push(
        state,
        listPanel("history", "What you typed before", items, "Enter takes it into the input"),
      );
    },
    choose: (state, item) => {
      const text = searchHistory(state.history, "", 500)[Number(item.id)] ?? "";
      return just(allClosed({ ...state, editor: edit(state.editor, { type: "set", text }) }));
    },
  },
  {
    names: ["help", "?"],
    open: (state) => {
      const commands = (state.session.facts?.commands ?? []).filter(({ hidden }) => !hidden);
      const items = commands.map(({ name, argumentHint, description }) => ({
        id: name,
        label: `/${name}${argumentHint === "" ? "" : ` ${argumentHint}`}`,
        note: description,
      }));
      return push(
        state,
        listPanel("help", "Commands", items, "Enter takes it into the input; ? shows the keys"),
      );
    },
    choose: (state, item) =>
      just(allClosed({ ...state, editor: edit(state.editor, { type: "set", text: `/${item.id} ` }) })),
  },
  {
    names: ["resume", "sessions"],
    alone: true,
    open: (state) =>
      push(
        state,
        listPanel(
          "resume",
          "Sessions",
          "loading",
          "Enter goes on with it, Esc stays here",
          "There is no other session yet.",
        ),
        { type: "list-sessions" },
      ),
    fill: (panel, got) => {
      if (got.what === "sessions") return ready(panel, got.items);
      return got.what === "preview" && panel.kind === "list" ? { ...panel, preview: got } : panel;
    },
    // What is marked is shown below it.
    moved: (panel, before) => {
      const marked = shownItems(panel)[panel.marked];
      const isOther = marked?.id !== shownItems(before)[before.marked]?.id;
      return marked && (isOther || panel.preview === null)
        ? [{ type: "preview-session", id: marked.id }]
        : [];
    },
    choose: (state, item) => just(allClosed(state), { type: "switch-session", id: item.id }),
  },
  {
    names: ["model"],
    alone: true,
    open: (state) =>
      push(
        state,
        listPanel("model", "Model", "loading", "Enter asks it from now on"),
        ask("offeredModels", "model"),
      ),
    fill: (panel, got, { session }) =>
      got.what === "inquiry" && got.name === "offeredModels"
        ? ready(
            panel,
            got.answer.map(({ name, model }, index) => ({
              id: name === "default" ? model.id : name,
              label: name === "default" ? "as it began" : name,
              note: `${model.id}${model.prices ? `  $${model.prices.input} in, $${model.prices.output} out` : ""}`,
              // It may be offered by two names: the first is marked.
              ...(index === got.answer.findIndex(({ model: one }) => one.id === session.model)
                ? { mark: "done" as const }
                : {}),
            })),
          )
        : panel,
    choose: (state, item) => just(allClosed(state), set({ model: item.id })),
  },
  {
    names: ["mode"],
    alone: true,
    open: (state) =>
      push(
        state,
        listPanel(
          "mode",
          "Permission mode",
          permissionModes.map((mode) => ({
            id: mode,
            label: mode,
            note: modeNotes[mode] ?? "",
            ...(mode === state.session.mode ? { mark: "done" as const } : {}),
          })),
        ),
      ),
    choose: (state, item) => {
      const permissionMode = permissionModes.find((mode) => mode === item.id) ?? "default";
      return just(allClosed(state), set({ permissionMode }, "mode"));
    },
  },
  {
    names: ["export"],
    open: (state) =>
      push(
        state,
        listPanel("export", "Write this session down", [
          { id: "md", label: "Markdown", note: "to read and to paste" },
          { id: "html", label: "HTML", note: "one page that needs nothing else" },
          { id: "jsonl", label: "The log", note: "every event, to be imported again" },
        ]),
      ),
    choose: (state, item) => {
      const format = item.id === "html" ? "html" : item.id === "jsonl" ? "jsonl" : "md";
      return just(allClosed(state), { type: "export", format });
    },
  },
  {
    names: ["copy"],
    open: (state) => just(state, { type: "copy", text: state.reply }),
  },
  {
    names: ["rewind", "checkpoint"],
    open: (state) => {
      const items = state.past
        .filter(({ seq }) => seq > 0)
        .toReversed()
        .map(({ id, text, at }) => ({
          id,
          label: text.replace(/\s+/g, " ").trim() || "(no words)",
          note: sayAgo(state.now - at),
        }));
      return push(
        state,
        listPanel(
          "rewind",
          "Go back to before which message?",
          items,
          "Enter: what to restore",
          "Nothing was said yet.",
        ),
      );
    },
    choose: (state, item) =>
      push(
        state,
        {
          ...listPanel(
            `rewind-what`,
            item.label,
            [
              {
                id: `both ${item.id}`,
                label: "Files and conversation",
                note: "as they were before it",
              },
              {
                id: `conversation ${item.id}`,
                label: "The conversation only",
                note: "files stay as they are",
              },
              { id: `files ${item.id}`, label: "The files only", note: "the conversation goes on" },
            ],
            "Enter restores; what is undone stays in the log",
          ),
        },
        {
          type: "submit",
          command: { type: "rewind", checkpoint: item.id, preview: true },
          tag: `rewind-preview:${item.id}`,
        },
        { type: "read-changes", since: state.past.find(({ id }) => id === item.id)?.seq ?? 0 },
      ),
  },
  {
    names: ["rewind-what"],
    inner: true,
    open: (state) => just(state),
    fill: (panel, got, state) => {
      if (panel.kind !== "list") return panel;
      const known = panel.preview?.lines ?? [];
      if (got.what === "changes") return { ...panel, preview: { id: "", lines: [...known, ...got.lines] } };
      if (got.what !== "receipt" || got.receipt.type !== "rewound") return panel;
      return {
        ...panel,
        preview: { id: "", lines: [...rewindLines(got.receipt, rowContext(state)), ...known] },
      };
    },
    choose: (state, item) => {
      const [what = "", id = ""] = item.id.split(" ");
      const past = state.past.find((one) => one.id === id);
      if (!past) return just(allClosed(state));
      const files: Effect[] =
        what === "conversation"
          ? []
          : [{ type: "submit", command: { type: "rewind", checkpoint: id }, tag: "rewound" }];
      const isFirst = state.past.every(({ seq }) => seq === 0 || seq >= past.seq);
      const back: Effect = isFirst
        ? { type: "submit", command: { type: "clear" }, tag: "returned" }
        : { type: "submit", command: { type: "return", to: past.seq - 1 }, tag: "returned" };
      const conversation = what === "files" ? [] : [back];
      const editor = what === "files" ? state.editor : edit(state.editor, { type: "set", text: past.text });
      return just(allClosed({ ...state, editor }), ...files, ...conversation);
    },
  },
];

const modeNotes: Readonly<Record<string, string>> = {
  default: "asks before commands and changes",
  acceptEdits: "changes files without asking",
  plan: "reads and plans, changes nothing",
  dontAsk: "refuses what it would ask",
  bypassPermissions: "asks nothing; only where it was allowed at the start",
  auto: "decides by itself where it can",
};
