/** What the agent says of itself, and what it takes from what an editor says of itself, by version. Pure, and loaded first. */
import type {
  ClientCapabilities as ClientCapabilitiesV1,
  InitializeResponse as InitializeResponseV1,
} from "@agentclientprotocol/sdk";
import type {
  ClientCapabilities as ClientCapabilitiesV2,
  InitializeResponse as InitializeResponseV2,
} from "@agentclientprotocol/sdk/experimental/v2";
import { asObject } from "../../kernel/json.ts";

export type AcpVersion = 1 | 2;

/** What the editor can; what it did not announce is never called. */
export type EditorAbilities = {
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
  readonly terminals: boolean;
  readonly forms: boolean;
  readonly logsInByTerminal: boolean;
  readonly shows: { readonly notices: boolean; readonly compaction: boolean };
};

/** The highest version that both know. Whoever asks for one that there is not hears of one that there is. */
export const versionFor = (wanted: unknown, newest: AcpVersion): AcpVersion =>
  newest === 2 && typeof wanted === "number" && wanted >= 2 ? 2 : 1;

export function abilitiesOf(params: unknown, version: AcpVersion): EditorAbilities {
  const { clientCapabilities, capabilities } = asObject(params);
  return version === 1 ? abilitiesV1(asObject(clientCapabilities)) : abilitiesV2(asObject(capabilities));
}

const abilitiesV1 = (can: ClientCapabilitiesV1): EditorAbilities => ({
  readsFiles: can.fs?.readTextFile === true,
  writesFiles: can.fs?.writeTextFile === true,
  terminals: can.terminal === true,
  forms: can.elicitation?.form != null,
  logsInByTerminal: can.auth?.terminal === true,
  shows: { notices: can.session?.notices != null, compaction: can.session?.compaction != null },
});

/** Files and terminals of an editor are not in this version; what it shows, it shows without saying so. */
const abilitiesV2 = (can: ClientCapabilitiesV2): EditorAbilities => ({
  readsFiles: false,
  writesFiles: false,
  terminals: false,
  forms: can.elicitation?.form != null,
  logsInByTerminal: can.auth?.terminal != null,
  shows: { notices: true, compaction: true },
});

export const keyMethod = "api-key";
const keepMethod = "keep-key";

export const isLoginMethod = (methodId: string): boolean => methodId === keyMethod || methodId === keepMethod;

const byKey = {
  name: "A key of your own",
  description:
    "Keel takes ANTHROPIC_API_KEY or OPENAI_API_KEY from the environment, or a key that `keel auth set anthropic` keeps.",
};
const byTerminal = {
  type: "terminal" as const,
  name: "Keep a key",
  description: "Paste a key of Anthropic, then end the input with Ctrl-D.",
  args: ["auth", "set", "anthropic"],
};

type Meeting = { readonly version: string; readonly editor: EditorAbilities };

export function initializeV1({ version, editor }: Meeting): InitializeResponseV1 {
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
    protocolVersion: 1,
    agentInfo: { name: "keel", title: "Keel", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities,
    },
    authMethods: [
      { id: keyMethod, ...byKey },
      ...(editor.logsInByTerminal ? [{ id: keepMethod, ...byTerminal }] : []),
    ],
  };
}

export const initializeV2 = ({ version, editor }: Meeting): InitializeResponseV2 => ({
  protocolVersion: 2,
  info: { name: "keel", title: "Keel", version },
  capabilities: {
    session: {
      prompt: { image: {}, embeddedContext: {} },
      mcp: { stdio: {}, http: {} },
      delete: {},
      additionalDirectories: {},
    },
  },
  authMethods: [
    { type: "agent", methodId: keyMethod, ...byKey },
    ...(editor.logsInByTerminal ? [{ methodId: keepMethod, ...byTerminal }] : []),
  ],
});
