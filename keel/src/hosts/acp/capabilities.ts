/** What the agent says of itself, and what it takes from what an editor says of itself. Pure. */
import {
  type ClientCapabilities,
  type InitializeRequest,
  type InitializeResponse,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk";

/** What the editor can; what it did not announce is never called. */
export type EditorAbilities = {
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
  readonly forms: boolean;
  readonly shows: { readonly notices: boolean; readonly compaction: boolean };
};

export const editorOf = (can: ClientCapabilities | undefined): EditorAbilities => ({
  readsFiles: can?.fs?.readTextFile === true,
  writesFiles: can?.fs?.writeTextFile === true,
  forms: can?.elicitation?.form != null,
  shows: {
    notices: can?.session?.notices != null,
    compaction: can?.session?.compaction != null,
  },
});

export const keyMethod = "api-key";

/** Always the version that is spoken, whatever was asked for: an editor that knows no such version says so. */
export function initializeResponse(
  { clientCapabilities }: InitializeRequest,
  version: string,
): InitializeResponse {
  const sessionCapabilities = {
    list: {},
    delete: {},
    resume: {},
    close: {},
    additionalDirectories: {},
    // Not in the stable part of the protocol yet.
    fork: {},
  };
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "keel", title: "Keel", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities,
    },
    authMethods: [
      {
        id: keyMethod,
        name: "A key of your own",
        description:
          "Keel takes ANTHROPIC_API_KEY or OPENAI_API_KEY from the environment, or a key that `keel auth set anthropic` keeps.",
      },
      ...(clientCapabilities?.auth?.terminal === true
        ? [
            {
              type: "terminal" as const,
              id: "keep-key",
              name: "Keep a key",
              description: "Paste a key of Anthropic, then end the input with Ctrl-D.",
              args: ["auth", "set", "anthropic"],
            },
          ]
        : []),
    ],
  };
}
