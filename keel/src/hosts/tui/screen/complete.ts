/** What can be completed where the cursor stands: a command at the start, a file, an agent or a session after an `@`. Pure. */
import { namesOf, rankNames } from "../../../kernel/fuzzy.ts";
import { edit } from "../input/editor.ts";
import type { Effect } from "./effects.ts";
import { just, type ScreenStep } from "./on-event.ts";
import type { PanelItem } from "./panel.ts";
import type { Completion, ScreenState } from "./state.ts";

/** More than fits is not looked through. */
const mostItems = 30;
const mostSessions = 4;

const listSessions: Effect = { type: "list-sessions", for: "mention" };

/** After each change of the text: opens, changes or closes the list. Files are asked for; they come as an answer. */
export function completed(state: ScreenState): ScreenStep {
  const { text, cursor } = state.editor;
  const before = text.slice(0, cursor);
  const command = /^\/([^\s/]*)$/.exec(before);
  if (command) return just({ ...state, completion: commandsFor(state, command[1] ?? "") });
  const mention = /(?:^|\s)@("[^"\n]*|[^\s"]*)$/.exec(before);
  if (!mention) return just(state.completion ? { ...state, completion: null } : state);
  const typed = (mention[1] ?? "").replace(/^"/, "");
  const from = cursor - (mention[1] ?? "").length - 1;
  const ask: Effect = { type: "inquire", name: "files", question: { typed }, tag: `files:${typed}` };
  const items = [...filesStillFor(state, from, typed), ...othersFor(state, typed)];
  return just(
    {
      ...state,
      sessions: state.sessions ?? [],
      completion: { kind: "mention", from, typed, items, marked: 0 },
    },
    ask,
    ...(state.sessions === null ? [listSessions] : []),
  );
}

/** Files that were found for less are shown until more is known, or the list would blink; but only those that what is typed now still means: Tab takes the first. */
function filesStillFor({ completion }: ScreenState, from: number, typed: string): Completion["items"] {
  if (completion?.kind !== "mention" || completion.from !== from) return [];
  const files = new Map(completion.items.filter(({ note }) => note === "").map((one) => [one.label, one]));
  const names = typed === "" ? [...files.keys()] : rankNames(namesOf([...files.keys()]), typed, mostItems);
  return names.flatMap((name) => files.get(name) ?? []);
}

function commandsFor({ session }: ScreenState, typed: string): Completion {
  const commands = (session.facts?.commands ?? []).filter(({ hidden }) => !hidden);
  const known = new Map(
    commands.flatMap((one) => [one.name, ...one.aliases].map((name) => [name, one] as const)),
  );
  const ranked =
    typed === "" ? commands.map(({ name }) => name) : rankNames(namesOf([...known.keys()]), typed, mostItems);
  const seen = new Set<string>();
  const items = ranked.flatMap((name) => {
    const found = known.get(name);
    if (!found || seen.has(found.name)) return [];
    seen.add(found.name);
    const hint = found.argumentHint === "" ? "" : ` ${found.argumentHint}`;
    return [{ insert: `/${found.name} `, label: `/${found.name}${hint}`, note: found.description }];
  });
  return { kind: "command", from: 0, typed, items, marked: 0 };
}

function agentsFor({ session }: ScreenState, typed: string): Completion["items"] {
  const agents = session.facts?.agents ?? [];
  const names = typed === "" ? [] : rankNames(namesOf(agents.map(({ name }) => name)), typed, 3);
  return names.map((name) => ({ insert: `@agent-${name} `, label: `@${name}`, note: "agent" }));
}

/** By their names; the last of them also where nothing but `session` is typed. */
function sessionsFor({ sessions }: ScreenState, typed: string): Completion["items"] {
  if (!sessions || typed === "") return [];
  const byName = new Map(sessions.map((one) => [one.label, one]));
  const isKind = "session-".startsWith(typed.toLowerCase()) && typed.length > 2;
  const names = isKind ? [...byName.keys()] : rankNames(namesOf([...byName.keys()]), typed, mostSessions);
  return names.slice(0, mostSessions).flatMap((name) => {
    const found = byName.get(name);
    return found
      ? [{ insert: `@session-${found.id} `, label: found.label, note: `session, ${found.note}` }]
      : [];
  });
}

const othersFor = (state: ScreenState, typed: string): Completion["items"] => [
  ...agentsFor(state, typed),
  ...sessionsFor(state, typed),
];

/** They have come while something is mentioned: they join what is shown. */
export function withSessions(state: ScreenState, sessions: readonly PanelItem[]): ScreenState {
  const next = { ...state, sessions };
  const { completion } = state;
  if (completion?.kind !== "mention") return next;
  const items = [...completion.items, ...sessionsFor(next, completion.typed)];
  return { ...next, completion: { ...completion, items } };
}

/** Files that were found for what is still typed. */
export function withFiles(state: ScreenState, typed: string, files: readonly string[]): ScreenState {
  const { completion } = state;
  if (completion?.kind !== "mention" || completion.typed !== typed) return state;
  const items = files.slice(0, mostItems).map((path) => ({
    insert: /\s/.test(path) ? `@"${path}" ` : `@${path} `,
    label: path,
    note: "",
  }));
  return {
    ...state,
    completion: { ...completion, items: [...items, ...othersFor(state, typed)], marked: 0 },
  };
}

/** What is marked, put in the place of what was typed of it. */
export function accept(state: ScreenState): ScreenState {
  const { completion, editor } = state;
  const item = completion?.items[completion.marked];
  if (!completion || !item) return { ...state, completion: null };
  const text =
    editor.text.slice(0, completion.from) + item.insert + editor.text.slice(editor.cursor).replace(/^ /, "");
  return {
    ...state,
    completion: null,
    editor: edit(editor, { type: "set", text, cursor: completion.from + item.insert.length }),
  };
}

export function moved(state: ScreenState, by: 1 | -1): ScreenState {
  const { completion } = state;
  if (!completion || completion.items.length === 0) return state;
  const count = completion.items.length;
  return { ...state, completion: { ...completion, marked: (completion.marked + by + count) % count } };
}
