/** How a device that has no secret yet gets one. Apart from the client, which a page has without it. */
import { Fault, fault, reasonOf } from "../kernel/fault.ts";
import { isFaultCode } from "../kernel/faults.ts";
import { asObject } from "../kernel/json.ts";
import type { Access } from "../protocol/operation.ts";
import {
  type OpenAnswer,
  type OpenOperationName,
  type OpenQuestion,
  openPaths,
} from "../protocol/pairing.ts";

export type PairOptions = {
  /** `https://keel.example`, of the server. */
  readonly url: string;
  /** As a person typed it. */
  readonly code: string;
  /** What this device is called there. */
  readonly name: string;
  /** A browser leaves its secret to a cookie; a program keeps it itself. */
  readonly keep: "cookie" | "bearer";
  /** To be shown until the person at the other side has compared them. */
  readonly onDigits: (digits: string) => void;
  readonly signal?: AbortSignal | undefined;
  readonly fetch: typeof fetch;
};

export type PairedDevice = {
  readonly device: string;
  readonly name: string;
  readonly access: Access;
  /** For `connect`; undefined where a cookie holds it. */
  readonly secret?: string | undefined;
};

/** Throws `code_refused` for a code that is no good, or when the person says no; `too_many_tries`; `link_lost`. */
export async function collectSecret({
  code,
  name,
  keep,
  onDigits,
  ...where
}: PairOptions): Promise<PairedDevice> {
  const { claim, digits } = await post("claimPairing", { code, name }, where);
  onDigits(digits);
  for (;;) {
    const answer = await post("collectSecret", { claim, keep }, where);
    if (answer.state === "over") throw fault("code_refused");
    if (answer.state === "paired") return answer;
  }
}

async function post<Name extends OpenOperationName>(
  name: Name,
  question: OpenQuestion<Name>,
  { url, signal, fetch: send }: Pick<PairOptions, "url" | "signal" | "fetch">,
): Promise<OpenAnswer<Name>> {
  try {
    const response = await send(new URL(openPaths[name], url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(question),
      ...(signal ? { signal } : {}),
    });
    const body = asObject(await response.json());
    if (response.ok) return body as OpenAnswer<Name>;
    const { code, message } = asObject(body["fault"]);
    if (typeof code === "string" && isFaultCode(code)) throw new Fault(code, String(message), {}, undefined);
    throw fault("link_lost", { reason: `refused with ${response.status}` });
  } catch (thrown) {
    if (thrown instanceof Fault || signal?.aborted) throw thrown;
    throw fault("link_lost", { reason: reasonOf(thrown) });
  }
}
