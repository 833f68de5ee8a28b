/** The moments of a session at which its files are known: before each message, after each edit, and at the end. */

import { fold } from "../../core/fold.ts";
import { filesAt } from "../../core/state/checkpoint-state.ts";
import { emptyState, type SessionState } from "../../core/state/state.ts";
import { asObject, asText } from "../../kernel/json.ts";
import type { Durable } from "../../protocol/event/durable.ts";
import { type EventHandlers, handle } from "../../protocol/event/envelope.ts";
import { textOf } from "../../protocol/message.ts";

/** A call that changed a file in a way that its own input says. */
export type EditCall = {
  readonly callId: string;
  readonly tool: string;
  readonly path: string;
  readonly seq: number;
  /** Null where the edit cannot be told from the call. */
  edit(before: string): string | null;
};

export type PastTurn = {
  /** The id of the message before which files were so. */
  readonly checkpoint: string;
  readonly seq: number;
  readonly said: string;
  readonly edits: readonly EditCall[];
  /** Calls of this turn that may have changed anything. */
  readonly others: readonly { readonly callId: string; readonly tool: string; readonly seq: number }[];
};

export type Past = {
  readonly turns: readonly PastTurn[];
  /** What each file was before a message, of those that changed since; null where there was none. */
  filesBefore(checkpoint: string): ReadonlyMap<string, string | null>;
  /** What changed later and cannot be had back. */
  lostSince(checkpoint: string): readonly string[];
};

export function pastOf(events: readonly Durable[]): Past {
  let state: SessionState = emptyState;
  const turns: (PastTurn & { edits: EditCall[]; others: { callId: string; tool: string; seq: number }[] })[] =
    [];
  const inputs = new Map<string, string>();
  const uses = new Map<string, unknown>();
  const handlers: EventHandlers<Durable, [], void> = {
    "input.accepted": (event) => void inputs.set(event.input.id, textOf(event.input.content)),
    "turn.started": ({ inputIds: [checkpoint], seq }) => {
      if (checkpoint === undefined) return;
      turns.push({ checkpoint, seq, said: inputs.get(checkpoint) ?? "", edits: [], others: [] });
    },
    "model.finished": ({ content }) => {
      for (const block of content) if (block.type === "tool_use") uses.set(block.id, block.input);
    },
    "tool.started": (event) => {
      if (event.input !== undefined) uses.set(event.callId, event.input);
    },
    "tool.finished": (event) => {
      const turn = turns.at(-1);
      if (!turn || event.denied || event.invalid) return;
      const found = event.failed ? undefined : editOf(event.tool, uses.get(event.callId));
      const seen = event.seen?.[0]?.path;
      const { callId, tool, seq } = event;
      if (found && seen !== undefined) turn.edits.push({ callId, tool, seq, path: seen, edit: found });
      else turn.others.push({ callId, tool, seq });
    },
  };
  for (const event of events) {
    state = fold(state, event);
    handle(handlers, event);
  }
  const { files } = state;
  return {
    turns,
    filesBefore: (checkpoint) =>
      new Map(filesAt(files, checkpoint)?.files.map(({ path, blob }) => [path, blob]) ?? []),
    lostSince: (checkpoint) => filesAt(files, checkpoint)?.lost ?? [],
  };
}

type Replace = { readonly old: string; readonly put: string; readonly all: boolean };

/** What a call of the file tools makes of a text. */
function editOf(tool: string, input: unknown): EditCall["edit"] | undefined {
  const given = asObject(input);
  if (tool === "Write") return () => asText(given["content"]);
  if (tool === "Edit") return replacing([replaceOf(given)]);
  if (tool === "MultiEdit" && Array.isArray(given["edits"]))
    return replacing(given["edits"].map((edit) => replaceOf(asObject(edit))));
  return undefined;
}

const replaceOf = (given: Record<string, unknown>): Replace => ({
  old: asText(given["old_string"]),
  put: asText(given["new_string"]),
  all: given["replace_all"] === true,
});

const replacing =
  (edits: readonly Replace[]): EditCall["edit"] =>
  (before) => {
    let text = before;
    for (const { old, put, all } of edits) {
      if (old === "") {
        if (text !== "") return null;
        text = put;
      } else if (!text.includes(old)) return null;
      else text = all ? text.replaceAll(old, () => put) : text.replace(old, () => put);
    }
    return text;
  };
