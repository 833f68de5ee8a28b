/** Servers of tools, as data: how one is reached, how it stands, and what it offers. */
import * as z from "zod/mini";
import type { JsonObject } from "../kernel/json.ts";

const milliseconds = z.number().check(z.positive(), z.maximum(24 * 60 * 60 * 1_000));

const everyKind = {
  /** Milliseconds for one call. */
  timeout: z.optional(milliseconds),
  /** Its tools join the prompt also when they come late; otherwise they are announced and loaded. */
  alwaysLoad: z.optional(z.boolean()),
  /** `false`: a process of its own for each session. */
  share: z.optional(z.boolean()),
};

const remote = {
  ...everyKind,
  url: z.string().check(z.minLength(1)),
  headers: z.optional(z.record(z.string(), z.string())),
  oauth: z.optional(
    z.object({
      clientId: z.optional(z.string()),
      clientSecret: z.optional(z.string()),
      scope: z.optional(z.string()),
      /** Where this client describes itself, for servers that know clients by such an address. */
      clientMetadataUrl: z.optional(z.string()),
      /** The port of the page that a login comes back to; any free one when left out. */
      callbackPort: z.optional(z.int().check(z.minimum(1), z.maximum(65_535))),
    }),
  ),
};

const stdio = {
  ...everyKind,
  command: z.string().check(z.minLength(1)),
  args: z.optional(z.array(z.string())),
  env: z.optional(z.record(z.string(), z.string())),
};

export const mcpServerSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("stdio"), ...stdio }),
  z.object({ type: z.literal("http"), ...remote }),
  z.object({ type: z.literal("sse"), ...remote }),
  z.object({ type: z.literal("ws"), ...remote }),
]);
/** How a server outside of this process is reached. */
export type McpServerSpec = z.infer<typeof mcpServerSchema>;

/** From the strongest to the weakest: of two servers of one name the stronger counts. */
export const mcpScopes = ["host", "managed", "local", "project", "user", "plugin"] as const;
export type McpScope = (typeof mcpScopes)[number];

export type McpToolFacts = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly annotations?: { readonly [hint: string]: unknown } | undefined;
};

/** How a server stands now. */
export type McpServerState = {
  readonly name: string;
  readonly scope: McpScope;
  readonly transport: McpServerSpec["type"] | "channel";
} & (
  | {
      readonly status: "connected";
      readonly serverInfo: { readonly name: string; readonly version: string };
      readonly tools: readonly McpToolFacts[];
      /** Tools whose definition is not the one that was approved: each asks before it runs. */
      readonly changed: readonly string[];
      /** What was left out of what it offers, and why. */
      readonly problems: readonly string[];
    }
  | { readonly status: "failed"; readonly error: string }
  | { readonly status: "needs-auth"; readonly error: string }
  | { readonly status: "pending"; readonly error?: string | undefined }
  | { readonly status: "disabled" }
);

/** A prompt of a server, which people call as a command. */
export type McpPrompt = {
  readonly server: string;
  readonly name: string;
  /** `mcp__server__prompt`. */
  readonly command: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string | undefined;
    readonly required: boolean;
  }[];
};

/** Something of a server that can be read and mentioned. */
export type McpResource = {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
};

/** A server to which a host carries messages itself: one of its own process, or behind another wire. */
export interface McpChannel {
  open(hear: { message(message: JsonObject): void; closed(): void }): Promise<void>;
  send(message: JsonObject): Promise<void>;
  close(): Promise<void>;
}

/** What a host may name: a server outside, or one that it carries messages to. */
export type McpServerOptions =
  | McpServerSpec
  | {
      readonly type: "channel";
      readonly channel: McpChannel;
      readonly timeout?: number | undefined;
      readonly alwaysLoad?: boolean | undefined;
    };
