/** Takes a person's words on their way to a session: commands are answered here, everything else goes on as an input. */
import { foreign } from "../../core/context/blocks.ts";
import type { Listener } from "../../engine/listeners.ts";
import type { Session } from "../../engine/session.ts";
import type { Command, Receipt } from "../../protocol/command.ts";
import type { LiveEvent } from "../../protocol/event.ts";
import type { McpPrompt } from "../../protocol/mcp.ts";
import type { Kit } from "../compose/kit.ts";
import type { CommandInfo } from "../inquiries/info.ts";
import type { AttachWorld } from "./attach-mentions.ts";
import type { CommandDesk } from "./commands/command.ts";
import { expandInput } from "./expand.ts";
import { expandMcp } from "./mcp-words.ts";

export type Words = {
  take(command: Extract<Command, { type: "input" }>): Promise<Receipt>;
  /** Events of the session and of commands, to one listener. */
  onEvent(listener: Listener): () => void;
};

/** Ids of inputs that are remembered: the same one sent twice runs its command once. */
const mostIds = 1_000;

export function takeWords({
  session,
  kit,
  desk,
}: {
  session: Session;
  kit: Kit;
  desk: Omit<CommandDesk, "commands" | "library" | "hasSaid" | "instructions" | "servers" | "settings">;
}): Words {
  const { texts, parts } = kit;
  const listeners = new Set<Listener>();
  const receipts = new Map<string, Promise<Receipt>>();
  const world = {
    get registry() {
      return texts.registry;
    },
    attach: askingWorld(
      texts.attachWorld(() => session.state),
      session,
    ),
    desk: {
      ...desk,
      get library() {
        return texts.library;
      },
      commands: () => commandsNow(kit),
      servers: () => kit.mcp.control.status(),
      settings: () => session.state.settings,
      hasSaid: () => session.state.history.length > 0,
      instructions: () => texts.instructions(),
    },
  };
  const show = (event: LiveEvent): void => {
    for (const listener of listeners) listener({ at: parts.clock.now(), session: session.id, ...event });
  };
  const take = async (command: Extract<Command, { type: "input" }>): Promise<Receipt> => {
    // The tags that are put around files and resources from here on are ours: nobody else writes them.
    const plain = { ...command, content: foreign(command.content) };
    const named = await expandMcp(plain, kit.mcp.control);
    for (const text of named.problems) show({ type: "notice.raised", level: "warning", text });
    const expanded = await expandInput(named.command, world);
    if (expanded.kind === "local") {
      const { name, output } = expanded;
      if (output !== "") show({ type: "command.answered", name, text: output });
      return { type: "ran", command: name };
    }
    for (const text of expanded.problems) show({ type: "notice.raised", level: "warning", text });
    return session.submit(expanded.command);
  };
  return {
    take(command) {
      const { id } = command;
      if (id === undefined) return take(command);
      const known = receipts.get(id);
      if (known !== undefined)
        return known.then((receipt) =>
          receipt.type === "accepted" ? { ...receipt, duplicate: true } : receipt,
        );
      const receipt = take(command);
      receipts.set(id, receipt);
      // What was not accepted may be sent again.
      receipt.catch(() => receipts.delete(id));
      const [oldest] = receipts.keys();
      if (receipts.size > mostIds && oldest !== undefined) receipts.delete(oldest);
      return receipt;
    },
    onEvent(listener) {
      const stop = session.onEvent(listener);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        stop();
      };
    },
  };
}

/** Commands in what a person calls are asked about like those of the model, where somebody can be asked. */
function askingWorld(world: AttachWorld, session: Session): AttachWorld {
  return {
    workspace: world.workspace,
    get agents() {
      return world.agents;
    },
    policy: {
      ...world.policy,
      mayRun: (command, allow) => session.permitBeside({ command, allow }),
    },
  };
}

/** Everything that can be called with a slash now: what was read, and the prompts of servers that are there. */
export const commandsNow = ({ texts, mcp }: Pick<Kit, "texts" | "mcp">): CommandInfo[] =>
  [...texts.registry.listed, ...mcp.control.prompts().map(infoOfPrompt)].toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  );

const infoOfPrompt = ({ command, description, arguments: wanted }: McpPrompt): CommandInfo => ({
  name: command,
  description,
  argumentHint: wanted.map(({ name }) => `[${name}]`).join(" "),
  kind: "prompt",
  source: "mcp",
  aliases: [],
  hidden: false,
  immediate: false,
});
