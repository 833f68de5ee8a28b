/** `tool()`: a function of the program as a tool that a model can call. */
import type { OutputOf, Shape, StandardSchema } from "./tool-schema.ts";

/** What a handler returns, as the Model Context Protocol has it. */
export type CallToolResult = {
  content: ToolContent[];
  /** The result as data, for programs. */
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
};

export type ToolContent =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: { uri: string; text?: string; blob?: string; mimeType?: string } }
  | { type: "resource_link"; uri: string; name: string; description?: string; mimeType?: string };

export type ToolAnnotations = {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
};

/** What a handler is told about its call. */
export type ToolExtra = {
  signal: AbortSignal;
  requestId: string;
  _meta: { progressToken: string; "claudecode/toolUseId": string };
  /** Tells how far the call is; other notifications have no reader here. */
  sendNotification(notification: {
    method: string;
    params?: { progress?: number; total?: number; message?: string } & Record<string, unknown>;
  }): Promise<void>;
};

export type ToolExtras = { annotations?: ToolAnnotations; searchHint?: string; alwaysLoad?: boolean };

export type SdkMcpToolDefinition<S extends StandardSchema | Shape = StandardSchema | Shape> = ToolExtras & {
  name: string;
  description: string;
  inputSchema: S;
  handler: (args: OutputOf<S>, extra: ToolExtra) => Promise<CallToolResult>;
};

export function tool<S extends StandardSchema | Shape>(
  name: string,
  description: string,
  inputSchema: S,
  handler: (args: OutputOf<S>, extra: ToolExtra) => Promise<CallToolResult>,
  extras: ToolExtras = {},
): SdkMcpToolDefinition<S> {
  return { name, description, inputSchema, handler, ...extras };
}

/** A definition of any input: what its handler takes is what its own schema gives. */
export type AnyToolDefinition = Omit<SdkMcpToolDefinition, "handler"> & {
  handler: (args: never, extra: ToolExtra) => Promise<CallToolResult>;
};

/** Tools under the name of a server. */
export interface ToolServer {
  readonly name: string;
  readonly version: string;
  readonly instructions?: string | undefined;
  readonly tools: readonly AnyToolDefinition[];
}
