/** What a wire tells the model server: how its requests are recognised and read, and how a reply is written. */
import type { IncomingHttpHeaders } from "node:http";
import type { PrefixBlock } from "../../core/context/prefix.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { ReadyReply } from "../answers.ts";
import type { CacheMark, RequestView } from "../request-view.ts";

export type Incoming = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
};

/** What a request wants: a reply, a count of its tokens, or the list of models. */
export type Want = "reply" | "count" | "models";

export type WireError = { readonly status: number; readonly type: string; readonly message: string };

/** A block of the cache prefix, and whether the provider is asked to keep everything up to it. */
export type MarkedBlock = PrefixBlock & { readonly mark: CacheMark };

export interface Wire {
  readonly name: string;
  /** Undefined when the request is not of this wire. */
  wants(incoming: Incoming): Want | undefined;
  /** The body with what of the request stands in the address alone. */
  bodyOf?(incoming: Incoming, body: JsonObject): JsonObject;
  keyIn(headers: IncomingHttpHeaders): string | undefined;
  view(body: unknown): RequestView;
  /** What the provider's cache compares, for the request law and the simulated cache. Without it neither looks. */
  prefix?(body: unknown): MarkedBlock[];
  /** What a reply adds to that, where it is not sent back as a message: its blocks as the next request will hold them. */
  said?(reply: ReadyReply): MarkedBlock[];
  /** Whose request it is, if it says so. */
  session?(body: unknown): string | undefined;
  /** Beyond the rules that hold for every request. */
  violations(incoming: Incoming): string[];
  /** What the wire calls an error of this status. */
  errorType(status: number): string;
  error(error: WireError, requestId: string): unknown;
  models(ids: readonly string[]): unknown;
  count(tokens: number): unknown;
  wantsStream(body: unknown): boolean;
  /** The reply in one piece. */
  whole(reply: ReadyReply): unknown;
  /** The reply as records of a stream, complete with their blank lines, malformed where the script says so. */
  records(reply: ReadyReply): Iterable<string>;
  /** A record that says that the provider failed in the middle of a stream. */
  errorRecord(error: Omit<WireError, "status">): string;
  /** A record that keeps the connection alive and says nothing. */
  readonly ping: string;
}
