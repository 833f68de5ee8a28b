/** Which messages of a group are meant for the agent, and how it is told of them. */
import type { GroupMessage } from "../ports/groups.ts";

export type Addressing = {
  /** The agent's name as people write it at the start of a message: `@keel`. */
  readonly trigger: string;
  /** Every message is meant for it: the group of the person themselves, or one that wants it so. */
  readonly always: boolean;
};

/** At the start, whatever its letter case, and as a whole word: `@keelhaul` is somebody else. */
export function isMeant(text: string, { trigger, always }: Addressing): boolean {
  if (always) return true;
  const start = text.trimStart().slice(0, trigger.length);
  if (start.toLocaleLowerCase("en") !== trigger.toLocaleLowerCase("en")) return false;
  const next = text.trimStart().slice(trigger.length);
  return !/^[\p{L}\p{N}_-]/u.test(next);
}

/** Messages that are told at once: more than that many are cut at their start, which is said. */
const maxTold = 200;

/**
 * What the agent is told: every message since it last heard something, the newest last. Who wrote it is the channel's
 * word; a text cannot end its own tag and speak for somebody else.
 */
export function toldMessages(messages: readonly GroupMessage[], zone = "UTC"): string {
  const told = messages.slice(-maxTold);
  const left = messages.length - told.length;
  const lines = told.map(
    ({ from, at, text }) =>
      `<message from="${escaped(from)}" at="${when(at, zone)}">${escaped(text)}</message>`,
  );
  return [...(left > 0 ? [`(${left} earlier messages are left out.)`] : []), ...lines].join("\n");
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const unescapes = new Map(Object.entries(escapes).map(([sign, code]) => [code, sign]));
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => escapes[sign] ?? sign);

/** What `toldMessages` told, message by message; another text is one. */
export function toldLines(told: string): { from?: string; at?: string; text: string }[] {
  const lines = [...told.matchAll(/<message from="([^"]*)" at="([^"]*)">([^<]*)<\/message>/g)];
  if (lines.length === 0) return [{ text: told }];
  return lines.map(([, from = "", at = "", text = ""]) => ({ from: plain(from), at, text: plain(text) }));
}
const plain = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot);/g, (sign) => unescapes.get(sign) ?? sign);

function when(at: number, zone: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "";
  return new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "medium",
  }).format(date);
}
