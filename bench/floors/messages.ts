/** The messages of conversations as plain objects, and nothing else. */
import { heldBytes, runProgram } from "../program.ts";

type Options = {
  readonly conversations: number;
  readonly messages: number;
  readonly messageBytes: number;
};

await runProgram(async ({ conversations, messages, messageBytes }: Options) => {
  const before = await heldBytes();
  const held = Array.from({ length: conversations }, (_, conversation) =>
    Array.from({ length: messages }, (__, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      // A text of its own, in one piece: parts that are shared would be held once.
      content: [
        { type: "text", text: Buffer.alloc(messageBytes, `${conversation}/${index} `).toString("latin1") },
      ],
    })),
  );
  const heldEach = ((await heldBytes()) - before) / conversations;
  // Looked at afterwards: whatever is still needed is not collected.
  return { heldEach, kept: held.length };
});
