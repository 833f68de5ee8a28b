/** Takes a person's words on their way to a session: commands are answered here, everything else goes on as an input. */
import { foreign } from "../../core/context/blocks.ts";
import type { EnvelopeListener } from "../../engine/journal.ts";
import type { Session } from "../../engine/session.ts";
import type { Command, Receipt } from "../../protocol/command.ts";
import type { LiveEvent } from "../../protocol/event/live.ts";
import type { SessionComposition } from "../compose/session-composition.ts";
import { commandsNow } from "../inquiries/facts.ts";
import type { AttachContext } from "./attach-mentions.ts";
import type { CommandContext } from "./commands/command.ts";
import { expandInput } from "./expand.ts";
import { expandMcp } from "./mcp-text.ts";

export type InputHandler = {
  handle(command: Extract<Command, { type: "input" }>): Promise<Receipt>;
  /** Events of the session and of commands, to one listener. */
  onEvent(listener: EnvelopeListener): () => void;
};

/** Ids of inputs that are remembered: the same one sent twice runs its command once. */
const maxIds = 1_000;

export function inputHandler({
  session,
  kit,
  about,
}: {
  session: Session;
  kit: SessionComposition;
  about: Omit<CommandContext, "commands" | "library" | "hasSaid" | "instructions" | "servers" | "settings">;
}): InputHandler {
  const { texts, parts } = kit;
  const listeners = new Set<EnvelopeListener>();
  const receipts = new Map<string, Promise<Receipt>>();
  const context = {
    get registry() {
      return texts.registry;
    },
    attach: askingContext(
      texts.attachContext(() => session.state),
      session,
    ),
    context: {
      ...about,
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
    const expanded = await expandInput(named.command, context);
    if (expanded.kind === "local") {
      const { name, output } = expanded;
      if (output !== "") show({ type: "command.answered", name, text: output });
      return { type: "ran", command: name };
    }
    for (const text of expanded.problems) show({ type: "notice.raised", level: "warning", text });
    return session.submit(expanded.command);
  };
  return {
    handle(command) {
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
      if (receipts.size > maxIds && oldest !== undefined) receipts.delete(oldest);
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
function askingContext(context: AttachContext, session: Session): AttachContext {
  return {
    workspace: context.workspace,
    get agents() {
      return context.agents;
    },
    policy: {
      ...context.policy,
      mayRun: (command, allow) => session.permitCommand({ command, allow }),
    },
  };
}
