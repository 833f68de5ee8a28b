/** How the official SDK's browser client comes in: what the addresses of its three requests mean. */
import { fault } from "../../../kernel/fault.ts";
import type { JsonObject } from "../../../kernel/json.ts";
import type { Caller } from "../../../protocol/operation.ts";
import type { EventSource } from "../event-stream.ts";
import type { SdkSession } from "./sdk-client.ts";
import { maxReplayed, type SdkStream, SdkStreams } from "./sdk-stream.ts";

export type SdkRequest = {
  /** Its id. */
  readonly device: string;
  readonly caller: Caller;
  readonly session: string;
  readonly query: URLSearchParams;
};

export class SdkRoutes {
  readonly #served: SdkSession["served"];
  readonly #version: string;
  readonly #streams = new SdkStreams();

  constructor({ served, version }: { served: SdkSession["served"]; version: string }) {
    this.#served = served;
    this.#version = version;
  }

  /** Throws `usage` for a cursor that is none. */
  stream(request: SdkRequest, after: unknown): EventSource {
    const last = numberOf("Last-Event-ID", after ?? 0);
    return async (signal) => (await this.#streamOf(request)).events(last, signal);
  }

  async page(request: SdkRequest): ReturnType<SdkStream["page"]> {
    const after = numberOf("after_sequence_num", request.query.get("after_sequence_num") ?? 0);
    const most = numberOf("limit", request.query.get("limit") ?? maxReplayed);
    return (await this.#streamOf(request)).page(after, Math.max(1, Math.min(most, maxReplayed)));
  }

  async post(request: SdkRequest, body: JsonObject): Promise<Record<string, never>> {
    await (await this.#streamOf(request)).take(body);
    return {};
  }

  #streamOf({ device, caller, session, query }: SdkRequest): Promise<SdkStream> {
    return this.#streams.of(device, {
      served: this.#served,
      session,
      caller,
      version: this.#version,
      ...wishesOf(query, { echoes: true }),
    });
  }
}

/** Both may stand in the address. */
export function wishesOf(
  query: URLSearchParams,
  usual: { readonly echoes: boolean },
): { readonly echoes: boolean; readonly pieces: boolean } {
  const flag = (name: string, otherwise: boolean): boolean => {
    const said = query.get(name);
    return said === null ? otherwise : said !== "false";
  };
  return {
    echoes: flag("replay_user_messages", usual.echoes),
    pieces: flag("include_partial_messages", false),
  };
}

function numberOf(name: string, given: unknown): number {
  const number = Number(given);
  if (!Number.isSafeInteger(number) || number < 0) throw fault("usage", { reason: `${name}: not a number` });
  return number;
}
