/** What is told over HTTP beside operations: documents, streams of events, and what programs of other makers send. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServedSessions } from "../../app/sessions/served-sessions.ts";
import { fault } from "../../kernel/fault.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { type Caller, mayDo } from "../../protocol/operation.ts";
import type { BridgeDoor, ChannelKind, ChannelPlace } from "./bridge-wire/bridge-door.ts";
import type { Device } from "./devices.ts";
import { type EventSource, sessionEvents } from "./event-stream.ts";
import { readBody, sayJson, sayLines } from "./http-messages.ts";
import { deviceLimits } from "./limits.ts";
import { type PathFields, type PlainRouteName, plainRoutes } from "./routes.ts";
import type { SdkRequest, SdkRoutes } from "./sdk-wire/sdk-routes.ts";

/** An offer is a few words. */
const maxOfferBytes = 16 * 1024;

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
  bridgeDoor(): Promise<BridgeDoor>;
  isSecure(request: IncomingMessage): boolean;
  /** Server-sent events, for as long as the other side listens. */
  tell(response: ServerResponse, device: Device, source: EventSource): Promise<void>;
};

export function plainHandlers({
  served,
  hello,
  bridgeDoor,
  isSecure,
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
  const placeOf = (kind: ChannelKind, { fields, device }: PlainRequest): ChannelPlace => ({
    kind,
    id: fields[kind === "environment" ? "environment" : "session"] ?? "",
    device: device.id,
  });
  const bridgeStream = async (kind: ChannelKind, given: PlainRequest): Promise<EventSource> =>
    (await bridgeDoor()).stream(placeOf(kind, given), given.query.get("channel") ?? "");
  const bridgePost = async (kind: ChannelKind, given: PlainRequest): Promise<void> => {
    const body = await readBody(given.request, deviceLimits[given.device.access].messageBytes);
    (await bridgeDoor()).post(placeOf(kind, given), given.query.get("channel") ?? "", body);
    sayJson(given.response, 200, {});
  };
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
    bridgeRegister: async ({ request, response, device }) => {
      const door = await bridgeDoor();
      const body = await readBody(request, maxOfferBytes);
      const calledAs = `${isSecure(request) ? "https" : "http"}://${request.headers.host ?? ""}`;
      sayJson(response, 200, await door.register(body, { device: device.id, calledAs }));
    },
    bridgeWork: async (given) => tell(given.response, given.device, await bridgeStream("environment", given)),
    bridgeWorkSend: (given) => bridgePost("environment", given),
    bridgeSession: async (given) => tell(given.response, given.device, await bridgeStream("ingress", given)),
    bridgeSessionSend: (given) => bridgePost("ingress", given),
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
