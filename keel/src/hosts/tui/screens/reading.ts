import { just } from "../screen/on-event.ts";
import { textPanel } from "../screen/panel.ts";
import { ask, push, type ScreenRow } from "../screen/screen-row.ts";
import { contextLines, costLines, keyLines, serverLines, textLines } from "../screen/screen-texts.ts";
import { rowContext } from "../screen/state.ts";

export const readingScreens: readonly ScreenRow[] = [
  {
    names: ["transcript"],
    inner: true,
    open: (state) =>
      push(state, textPanel("transcript", "Transcript", "loading"), { type: "read-transcript" }),
    // Opened at its end: that is what was just seen.
    fill: (panel, got) =>
      panel.kind === "text" && got.what === "transcript"
        ? { ...panel, lines: got.lines, scroll: Math.max(0, got.lines.length - 12), state: "ready" }
        : panel,
  },
  {
    names: ["keys"],
    open: (state) => push(state, textPanel("keys", "Keys", keyLines(state.keyMap, rowContext(state)))),
  },
  {
    names: ["server"],
    inner: true,
    open: (state) => just(state),
    fill: (panel, got) =>
      panel.kind === "text" && got.what === "inquiry" && got.name === "servers"
        ? {
            ...panel,
            state: "ready",
            lines: serverLines(got.answer.find(({ name }) => name === panel.title)),
          }
        : panel,
  },
  {
    names: ["output"],
    inner: true,
    open: (state) => just(state),
    fill: (panel, got) => {
      if (panel.kind !== "text" || got.what !== "inquiry" || got.name !== "taskOutput") return panel;
      const lines = textLines(got.answer?.text ?? "Nothing was written.");
      return { ...panel, state: "ready", lines, scroll: Math.max(0, lines.length - 12) };
    },
  },
  {
    names: ["context"],
    open: (state) => push(state, textPanel("context", "Context", "loading"), ask("context", "context")),
    fill: (panel, got, state) =>
      panel.kind === "text" && got.what === "inquiry" && got.name === "context"
        ? { ...panel, state: "ready", lines: contextLines(got.answer, rowContext(state)) }
        : panel,
  },
  {
    names: ["cost", "usage"],
    open: (state) => push(state, textPanel("cost", "Cost", "loading"), ask("usage", "cost")),
    fill: (panel, got, state) =>
      panel.kind === "text" && got.what === "inquiry" && got.name === "usage"
        ? { ...panel, state: "ready", lines: costLines(got.answer, rowContext(state)) }
        : panel,
  },
  ...["doctor", "status", "skills"].map(
    (name): ScreenRow => ({
      names: [name],
      alone: true,
      // The session's own command says it; here it is read in a panel.
      open: (state) =>
        push(state, textPanel(name, name.slice(0, 1).toUpperCase() + name.slice(1), "loading"), {
          type: "submit",
          command: { type: "input", content: [{ type: "text", text: `/${name}` }] },
          tag: "input",
        }),
    }),
  ),
];
