/** What the screen of memory lists: passages that were found, or what this session was told and what holds here. */
import type { Durable } from "../../../protocol/event/durable.ts";
import { inertOne } from "../text/inert.ts";
import type { Effect } from "./effects.ts";
import type { MemoryPassage, ScreenHost } from "./host.ts";
import type { PanelItem } from "./panel.ts";
import { sayAgo } from "./screen-row.ts";

type MemoryWanted = Omit<Extract<Effect, { type: "search-memory" }>, "type">;

export async function findMemory(
  { words, scope }: MemoryWanted,
  { handle, sessions, clock }: ScreenHost,
): Promise<readonly PanelItem[]> {
  const { memory } = sessions;
  if (words !== "" && memory) {
    const found = await memory.search(words, scope);
    return found.map((one) => foundItem(one, clock.now()));
  }
  const holds = (await memory?.holds()) ?? "It is at the server: `keel memory search` looks there.";
  const [first = ""] = holds.split("\n");
  return [
    ...(await toldIn(sessions.read(handle.id))),
    { id: "index", label: "What was said before", note: first, whole: holds },
    { id: "files", label: "Instruction files", note: "what the model reads at the start" },
  ];
}

const foundItem = ({ id, at, text, passage, who }: MemoryPassage, now: number): PanelItem => ({
  id: `piece:${id}`,
  label: inertOne(text).trim(),
  note: `${who}, ${sayAgo(now - at)}`,
  whole: passage,
});

/** As the log has it: what the model was told stays told, also where the index has forgotten it since. */
async function toldIn(events: AsyncIterable<Durable>): Promise<PanelItem[]> {
  const told: PanelItem[] = [];
  for await (const event of events) {
    if (event.type !== "context.added" || event.why !== "recall") continue;
    for (const block of event.content) {
      const [, date, who, passage] = (block.type === "text" && passageForm.exec(block.text)) || [];
      if (passage === undefined) continue;
      told.push({
        id: `told:${told.length}`,
        label: inertOne(passage).trim(),
        note: `told: ${who}, ${date}`,
        mark: "done",
        whole: passage,
      });
    }
  }
  return told.toReversed();
}

const passageForm =
  /^<keel-recalled session="[^"]*" date="([^"]*)" by="([^"]*)">\n([\s\S]*)\n<\/keel-recalled>$/;
