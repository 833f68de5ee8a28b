// Conversations in which a program of the official interface must hear the same, whether it calls `query()` in its own
// process or is attached to a session of a server.
import type { UserMessage } from "../../keel/src/sdk/messages/read-content.ts";
import type { PermissionResult } from "../../keel/src/sdk/options/callbacks.ts";
import { httpError, reply, thinking, toolUse } from "../../keel/src/testing/reply.ts";
import type { Reply } from "../../keel/src/testing/script.ts";

export type WireMessage = { readonly type: string } & Record<string, unknown>;
/** A request by its subtype, as the wire has it. */
export type Control = (request: { readonly subtype: string } & Record<string, unknown>) => Promise<unknown>;

export type SdkScenario = {
  readonly replies: readonly Reply[];
  /** Under the names that an SDK and a server's `open` share. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** One for each turn. */
  readonly prompts: readonly (string | UserMessage["message"]["content"])[];
  /** `interrupt`: the turn is interrupted while the question is open. */
  readonly answer?: (tool: string, input: Record<string, unknown>) => PermissionResult | "interrupt";
  /** Before the first prompt. */
  readonly first?: (control: Control) => Promise<unknown>;
};

const bash = (command: string) => toolUse("Bash", { command });
const deny = (): PermissionResult => ({ behavior: "deny", message: "No." });
const allow = (_: string, input: Record<string, unknown>): PermissionResult => ({
  behavior: "allow",
  updatedInput: input,
});
const write = (file_path: string, content: string) => toolUse("Write", { file_path, content });

export const sdkScenarios: Readonly<Record<string, SdkScenario>> = {
  "one reply": { replies: [reply("Hello.")], prompts: ["Hi"] },
  "two turns": { replies: [reply("One."), reply("Two.")], prompts: ["1", "2"] },
  "thoughts before words": { replies: [reply(thinking("Hm."), "So.")], prompts: ["Think"] },
  "a call that a rule allows": {
    replies: [reply(bash("echo hi")), reply("Done.")],
    options: { allowedTools: ["Bash(echo:*)"] },
    prompts: ["Go"],
  },
  "a call that a rule denies": {
    replies: [reply(bash("echo hi")), reply("Then not.")],
    options: { disallowedTools: ["Bash(echo:*)"] },
    prompts: ["Go"],
  },
  "a call that a person allows": {
    replies: [reply(bash("echo hi > a.txt")), reply("Done.")],
    prompts: ["Go"],
    answer: allow,
  },
  "a call that a person denies": {
    replies: [reply(bash("echo hi > a.txt")), reply("Then not.")],
    prompts: ["Go"],
    answer: deny,
  },
  "a call that a person changes": {
    replies: [reply(bash("echo hi > a.txt")), reply("Done.")],
    prompts: ["Go"],
    answer: () => ({ behavior: "allow", updatedInput: { command: "echo other > b.txt" } }),
  },
  "a denial that ends the turn": {
    replies: [reply(bash("echo hi > a.txt")), reply("Never.")],
    prompts: ["Go"],
    answer: () => ({ behavior: "deny", message: "Stop.", interrupt: true }),
  },
  "two calls in one reply": {
    replies: [reply(write("one.txt", "1\n"), write("two.txt", "2\n")), reply("Both.")],
    options: { permissionMode: "acceptEdits" },
    prompts: ["Go"],
  },
  "a question to the person": {
    replies: [
      reply(
        toolUse("AskUserQuestion", {
          questions: [
            {
              question: "Which colour?",
              header: "Colour",
              options: [
                { label: "Red", description: "Warm" },
                { label: "Blue", description: "Cold" },
              ],
              multiSelect: false,
            },
          ],
        }),
      ),
      reply("Blue it is."),
    ],
    prompts: ["Paint"],
    answer: (_, input) => ({
      behavior: "allow",
      updatedInput: { ...input, answers: { "Which colour?": "Blue" } },
    }),
  },
  "a file that is written": {
    replies: [reply(write("made.txt", "one\n")), reply("Made.")],
    options: { permissionMode: "acceptEdits" },
    prompts: ["Go"],
  },
  "a tool that fails": {
    replies: [reply(toolUse("Read", { file_path: "none.txt" })), reply("It is not there.")],
    prompts: ["Go"],
  },
  "a tool that there is not": { replies: [reply(toolUse("Nothing", {})), reply("Well.")], prompts: ["Go"] },
  "no more turns than allowed": {
    replies: [reply(bash("echo one")), reply(bash("echo two")), reply("Never.")],
    options: { maxTurns: 1, allowedTools: ["Bash(echo:*)"] },
    prompts: ["Go"],
  },
  "a request that is refused": {
    replies: [httpError(400)],
    prompts: ["Go"],
  },
  "words in several blocks, and an image": {
    replies: [reply("Seen.")],
    prompts: [
      [
        { type: "text", text: "Look:" },
        {
          type: "image",
          source: {
            type: "base64",
            media_type: "image/png",
            data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
          },
        },
      ],
    ],
  },
  "a command that needs no model": { replies: [reply("Hello.")], prompts: ["Hi", "/cost"] },
  "a list of things to do": {
    replies: [
      reply(toolUse("TaskCreate", { subject: "One", description: "The first." })),
      reply(toolUse("TaskList", {})),
      reply("Noted."),
    ],
    prompts: ["Plan"],
  },
  "an agent that works below": {
    replies: [
      reply(
        toolUse("Agent", {
          description: "Look",
          prompt: "Look around",
          subagent_type: "general-purpose",
          run_in_background: false,
        }),
      ),
      reply("Nothing there."),
      reply("The agent found nothing."),
    ],
    prompts: ["Send one"],
  },
  "another mode from the start": {
    replies: [reply(write("made.txt", "one\n")), reply("Made.")],
    prompts: ["Go"],
    first: (control) => control({ subtype: "set_permission_mode", mode: "acceptEdits" }),
  },
  "a turn that is interrupted": {
    replies: [reply(bash("echo hi > a.txt")), reply("Never."), reply("Next.")],
    prompts: ["Wait"],
    answer: () => "interrupt",
  },
};
