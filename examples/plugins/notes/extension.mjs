// A plugin with a program: `keel plugin add ./examples/plugins/notes`. Each call runs this file in a process of its own,
// in the working folder; what it gives back is data that both screens know how to draw.
import { appendFileSync, existsSync, readFileSync } from "node:fs";

const file = "notes.jsonl";
const lines = () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
const add = (text, kind) => appendFileSync(file, `${JSON.stringify({ text, kind })}\n`);
const table = () => {
  const notes = lines().map((line) => JSON.parse(line));
  return { kind: "table", columns: ["Note", "Kind"], rows: notes.map(({ text, kind }) => [text, kind]) };
};

/** @type {import("keel/protocol").ExtensionTool[]} */
export const tools = [
  {
    name: "add_note",
    description: "Keeps a note of this project.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run({ text }) {
      add(text, "model");
      return { text: `Kept. There are ${lines().length} notes.`, display: table() };
    },
  },
];

/** @type {import("keel/protocol").ExtensionCommand[]} */
export const commands = [
  {
    name: "add",
    description: "Keeps a note.",
    argumentHint: "WORDS",
    run(words, { values }) {
      add(values.text ?? words, values.kind ?? "person");
      return { text: "Kept.", display: table() };
    },
  },
  {
    name: "sort",
    description: "Has the model sort the notes.",
    run: () => ({ prompt: `Sort the notes in ${file} by importance.` }),
  },
];

const fields = [
  { name: "text", label: "Note", kind: "text" },
  { name: "kind", label: "Kind", kind: "choice", options: ["idea", "bug"] },
];

/** @type {import("keel/protocol").ExtensionPanel[]} */
export const panels = [
  {
    name: "all",
    title: "Notes",
    show: () => ({ displays: [table()], forms: [{ command: "add", submit: "Add", fields }] }),
  },
];
