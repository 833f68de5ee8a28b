/** What a package of the AI SDK offers, as far as it is asked here: the same in its three published versions. */
import type { JsonObject } from "../../kernel/json.ts";

export type PackageModel = {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
  doStream(options: StreamOptions): PromiseLike<{ readonly stream: ReadableStream<StreamPart> }>;
};

export type StreamOptions = {
  readonly prompt: readonly PromptMessage[];
  readonly tools?: readonly PromptTool[];
  readonly maxOutputTokens: number;
  readonly abortSignal: AbortSignal;
  readonly includeRawChunks: false;
  readonly providerOptions?: JsonObject;
};

/** Checked piece by piece where it is read: it comes from outside. */
export type StreamPart = Readonly<Record<string, unknown>>;

export type PromptMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user" | "assistant" | "tool"; readonly content: readonly JsonObject[] };

export type PromptTool = {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
};

export const isPackageModel = (value: unknown): value is PackageModel =>
  typeof value === "object" &&
  value !== null &&
  "doStream" in value &&
  typeof value.doStream === "function" &&
  "specificationVersion" in value;

export const knownVersions: readonly string[] = ["v2", "v3", "v4"];
