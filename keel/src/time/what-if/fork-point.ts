/** Where a recorded session goes another way: before a message, or behind any of its events; and its log up to there, elsewhere. */
import type { Durable } from "../../protocol/event/durable.ts";
import { type InputBlock, text, textOf } from "../../protocol/message.ts";

export type ForkPoint = {
  /** How many events are kept. */
  readonly kept: number;
  /** The last of them; 0 where none is kept. */
  readonly seq: number;
  /** The message of the turn that goes another way. */
  readonly message: string;
  readonly said: string;
  /** Whether the turn is under way there. */
  readonly within: boolean;
};

/** `at`: the id of a message or the start of one, or the number of an event. Undefined where it names none of a turn. */
export function forkPoint(events: readonly Durable[], at: string): ForkPoint | undefined {
  return /^\d{1,9}$/.test(at) ? atEvent(events, Number(at)) : atMessage(events, at);
}

function atMessage(events: readonly Durable[], at: string): ForkPoint | undefined {
  if (at === "") return undefined;
  const index = events.findIndex(
    (event) => event.type === "turn.started" && event.inputIds.some((id) => id.startsWith(at)),
  );
  const turn = events[index];
  if (turn?.type !== "turn.started") return undefined;
  const message = turn.inputIds.find((id) => id.startsWith(at)) ?? at;
  return placed(events, index, message, false);
}

function atEvent(events: readonly Durable[], seq: number): ForkPoint | undefined {
  const kept = events.findLastIndex((event) => event.seq <= seq) + 1;
  if (kept === 0 || events[kept - 1]?.seq !== seq) return undefined;
  const before = events.slice(0, kept);
  const last = before.findLast(({ type }) => type === "turn.started" || type === "turn.finished");
  if (last?.type === "turn.started") return placed(events, kept, last.inputIds[0] ?? "", true);
  const next = events.slice(kept).find((event) => event.type === "turn.started");
  return next?.inputIds[0] === undefined ? undefined : atMessage(events, next.inputIds[0]);
}

function placed(events: readonly Durable[], kept: number, message: string, within: boolean): ForkPoint {
  const input = events.find((event) => event.type === "input.accepted" && event.input.id === message);
  const said = input?.type === "input.accepted" ? textOf(input.input.content) : "";
  return { kept, seq: events[kept - 1]?.seq ?? 0, message, said, within };
}

/** The recorded events from there to the end of so many turns. */
export function recordedFrom(events: readonly Durable[], { kept }: ForkPoint, turns: number): Durable[] {
  const rest = events.slice(kept);
  let ended = 0;
  const last = rest.findIndex((event) => event.type === "turn.finished" && ++ended === turns);
  return last < 0 ? rest : rest.slice(0, last + 1);
}

/** What was said after the message of the fork, in the turns behind its own. */
export function laterMessages(
  events: readonly Durable[],
  { kept, within }: ForkPoint,
  count: number,
): (readonly InputBlock[])[] {
  const inputs = new Map(
    events.flatMap((event) =>
      event.type === "input.accepted" ? [[event.input.id, event.input.content] as const] : [],
    ),
  );
  const turns = events.slice(kept).flatMap((event) => (event.type === "turn.started" ? [event] : []));
  return turns
    .slice(within ? 0 : 1)
    .slice(0, count)
    .map(({ inputIds }) => inputIds.flatMap((id) => inputs.get(id) ?? []));
}

export type LogChange = {
  /** In place of what the message said. */
  readonly message?: string | undefined;
  /** In place of what the model was told of the call with which the log ends. */
  readonly result?: string | undefined;
  /** In place of what the project's file of instructions said. */
  readonly instructions?: string | undefined;
};

/** Whether the log up to there tells the model of a project's file of instructions, or will where none is kept yet. */
export const isInstructed = (events: readonly Durable[], { kept }: ForkPoint): boolean =>
  !events.slice(0, kept).some(({ type }) => type === "model.started") ||
  events.slice(0, kept).some((event) => JSON.stringify(event).search(toldOfProject()) >= 0);

const toldOfProject = (): RegExp =>
  /<keel-instructions path=\\?"[^"]*\/(?:AGENTS|CLAUDE)\.md\\?" of=\\?"the project/;

/** The kept part as the log of another session in another folder: paths below the first are below the second. */
export function movedLog(
  events: readonly Durable[],
  point: ForkPoint,
  { session, from, to, change }: { session: string; from: string; to: string; change: LogChange },
): Durable[] {
  const kept = events.slice(0, point.kept).map((event) => changed(event, point, change));
  const moved = movePaths(kept, from, to) as Durable[];
  return moved.map((event) => ({
    ...event,
    session,
    ...(event.type === "session.opened"
      ? { forkedFrom: { session: events[0]?.session ?? "", seq: point.seq } }
      : {}),
  })) as Durable[];
}

function changed(event: Durable, { message, seq }: ForkPoint, change: LogChange): Durable {
  if (change.message !== undefined && event.type === "input.accepted" && event.input.id === message)
    return { ...event, input: { ...event.input, content: [text(change.message)] } };
  if (change.result !== undefined && event.type === "tool.finished" && event.seq === seq)
    return { ...event, content: [text(change.result)] };
  if (change.instructions !== undefined && event.type === "context.added")
    return instructed(event, change.instructions);
  return event;
}

function instructed<E extends Extract<Durable, { type: "context.added" }>>(event: E, words: string): E {
  const content = event.content.map((block) =>
    block.type === "text"
      ? {
          ...block,
          text: block.text.replace(
            projectWords,
            (_, start: string, end: string) => `${start}${words.trim()}${end}`,
          ),
        }
      : block,
  );
  return { ...event, content };
}

const projectWords =
  /(<keel-instructions path="[^"]*\/(?:AGENTS|CLAUDE)\.md" of="the project[^>]*>\n)[\s\S]*?(\n<\/keel-instructions>)/;

/** In every text of a value. A name that only begins like the folder is another one. */
export function movePaths(value: unknown, from: string, to: string): unknown {
  const names = new RegExp(`${from.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w-]|\\.\\w)`, "g");
  const move = (each: unknown): unknown => {
    if (typeof each === "string") return each.includes(from) ? each.replace(names, () => to) : each;
    if (Array.isArray(each)) return each.map(move);
    if (each === null || typeof each !== "object") return each;
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, move(inner)]));
  };
  return move(value);
}
