/** What is answered to whoever comes, without a secret: how a device gets one. Little of such a request is read. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { fault } from "../../kernel/fault.ts";
import {
  type OpenAnswer,
  type OpenOperationName,
  type OpenQuestion,
  openOperations,
} from "../../protocol/pairing.ts";
import { cookieName } from "./admission.ts";
import { readBody } from "./http-messages.ts";
import { doorLimits } from "./limits.ts";
import type { Pairings } from "./pairings.ts";

type OpenHandlers = {
  readonly [Name in OpenOperationName]: (
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<OpenAnswer<Name>>;
};

export function openHandlers(
  pairings: Pairings,
  isSecure: (request: IncomingMessage) => boolean,
): OpenHandlers {
  return {
    claimPairing: async (request) => {
      const { code, name } = await read("claimPairing", request);
      return pairings.claim({ code, name, from: request.socket.remoteAddress ?? "" });
    },
    collectSecret: async (request, response) => {
      const { claim, keep } = await read("collectSecret", request);
      const collected = await pairings.collect(claim);
      if (typeof collected === "string") return { state: collected };
      const { device, secret } = collected;
      const told = { state: "paired", device: device.id, name: device.name, access: device.access } as const;
      if (keep === "bearer") return { ...told, secret };
      response.setHeader("set-cookie", cookieFor(secret, isSecure(request)));
      return told;
    },
  };
}

/** Throws `usage` for what is no question of the operation. */
async function read<Name extends OpenOperationName>(
  name: Name,
  request: IncomingMessage,
): Promise<OpenQuestion<Name>> {
  const parsed = openOperations[name].question.safeParse(await readBody(request, doorLimits.openBytes));
  if (!parsed.success) throw fault("usage", { reason: `${name}: a field is missing or wrong` });
  return parsed.data as OpenQuestion<Name>;
}

/** No code of a page sees it, no page of another site sends it, and where there is TLS nothing goes without. */
export const cookieFor = (secret: string, isSecure: boolean): string =>
  `${cookieName}=${secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000${isSecure ? "; Secure" : ""}`;
