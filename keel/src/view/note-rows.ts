/** What is said between the rows of a conversation: of the log, and only shown. */
import type { EnvelopeOf } from "../protocol/event/envelope.ts";
import { append, type RowGroup } from "./row-group.ts";
import type { NoticeRow } from "./rows.ts";

export function noteSettings(group: RowGroup, event: EnvelopeOf<"settings.changed">): RowGroup {
  const { model, permissionMode } = event.patch;
  if (event.why === "fallback")
    return note(group, event, { level: "warning", text: `${model} takes over for the rest of this turn.` });
  const words = [
    ...(model === undefined ? [] : [`Model: ${model}.`]),
    ...(permissionMode === undefined ? [] : [`Permission mode: ${permissionMode}.`]),
  ];
  return words.length === 0 ? group : note(group, event, { text: words.join(" ") });
}

export function note(
  group: RowGroup,
  { seq, at }: { seq: number; at: number },
  { level = "info", text, code }: { level?: "info" | "warning"; text: string; code?: string },
): RowGroup {
  const said = { level, text, ...(code === undefined ? {} : { code }) };
  return append(group, { kind: "notice", at, id: `${group.prefix}note:${seq}`, ...said });
}

export function notice(group: RowGroup, { at, level, text, code }: Omit<NoticeRow, "kind" | "id">): RowGroup {
  const notices = group.notices + 1;
  const id = `${group.prefix}notice:${notices}`;
  return { ...append(group, { kind: "notice", id, at, level, text, code }), notices };
}
