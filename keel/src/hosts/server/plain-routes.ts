/** What is told over HTTP beside operations: documents, streams of events, and what programs of other makers send. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { fault } from "../../kernel/fault.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { type Caller, mayDo } from "../../protocol/operation.ts";
import type { Device } from "./devices.ts";
import { type EventSource, sessionEvents } from "./event-stream.ts";
import { readBody, sayJson, sayLines } from "./http-messages.ts";
import { deviceLimits } from "./limits.ts";
import { type PathFields, type PlainRouteName, plainRoutes } from "./routes.ts";
import type { SdkRequest, SdkRoutes } from "./sdk-wire/sdk-routes.ts";

export type PlainRequest = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly device: Device;
  readonly caller: Caller;
  readonly fields: PathFields;
  readonly query: URLSearchParams;
};

export type PlainHandlersOptions = {
  readonly served: ServedSessions;
  readonly hello: { readonly keel: string };
  /** Server-sent events, for as long as the other side listens. */
  tell(response: ServerResponse, device: Device, source: EventSource): Promise<void>;
};

export function plainHandlers({
  served,
  hello,
  tell,
}: PlainHandlersOptions): (name: PlainRouteName, request: PlainRequest) => Promise<void> {
  let document: Promise<unknown> | undefined;
  let sdk: Promise<SdkRoutes> | undefined;
  const sdkRoutes = (): Promise<SdkRoutes> => {
    sdk ??= import("./sdk-wire/sdk-routes.ts").then(
      (late) => new late.SdkRoutes({ served, version: hello.keel }),
    );
    return sdk;
  };
  const sdkRequest = ({ device, caller, fields, query }: PlainRequest): SdkRequest => ({
    device: device.id,
    caller,
    session: fields["session"] ?? "",
    query,
  });
  const handlers: { readonly [Name in PlainRouteName]: (given: PlainRequest) => Promise<void> } = {
    events: ({ request, response, device, fields, query }) => {
      const after = request.headers["last-event-id"] ?? query.get("after") ?? 0;
      return tell(response, device, sessionEvents(served, fields["session"] ?? "", String(after)));
    },
    export: ({ response, fields }) =>
      sayLines(response, served.sessions.exportLines(fields["session"] ?? "")),
    sdkEvents: async (given) => {
      const source = (await sdkRoutes()).stream(sdkRequest(given), given.request.headers["last-event-id"]);
      return tell(given.response, given.device, source);
    },
    sdkHistory: async (given) =>
      sayJson(given.response, 200, await (await sdkRoutes()).page(sdkRequest(given))),
    sdkSend: async (given) => {
      const body = await readBody(given.request, deviceLimits[given.device.access].messageBytes);
      sayJson(given.response, 200, await (await sdkRoutes()).post(sdkRequest(given), body as JsonObject));
    },
    // Loaded and made when somebody asks, and once.
    openapi: async ({ response }) => {
      document ??= import("./openapi.ts").then(({ openApiDocument }) => openApiDocument(hello.keel));
      sayJson(response, 200, await document);
    },
  };
  return async (name, request) => {
    const { access } = plainRoutes[name];
    if (!mayDo(request.caller.access, access)) throw fault("access_refused", { needed: access });
    await handlers[name](request);
  };
}
