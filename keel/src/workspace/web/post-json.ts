/** Tells an address something and reads its answer: a hook over HTTP. This machine, named hosts and the public web only. */

import { lookup } from "node:dns/promises";
import type http from "node:http";
import { fault } from "../../kernel/fault.ts";
import type { PostJson } from "../../ports/hook-programs.ts";
import { plainHost, urlGuard } from "./url-guard.ts";
import { pinnedTo } from "./web-request.ts";

/** Where plain HTTP is no risk: nothing leaves the machine. */
const ownHosts = ["localhost", "127.0.0.1", "[::1]"];

/** `allowHosts`: hosts of private networks that the user's own settings name. */
export function jsonPoster({ allowHosts }: { allowHosts: readonly string[] }): PostJson {
  const guard = urlGuard({
    allowHosts: [...ownHosts, ...allowHosts],
    lookUp: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  });
  return async ({ url: address, headers, body, maxBytes }, signal) => {
    const judged = guard.judge(address);
    if (!judged.ok) throw fault("hook_failed", { reason: judged.why });
    const { url } = judged;
    const isOwn = ["localhost", "127.0.0.1", "::1"].includes(plainHost(url));
    if (url.protocol !== "https:" && !isOwn)
      throw fault("hook_failed", { reason: "Plain http is only for this machine. Use https." });
    const reachable = await guard.reachable(url);
    if (!reachable.ok) throw fault("hook_failed", { reason: reachable.why });
    const response = await post(url, { headers, body, addresses: reachable.addresses }, signal);
    return { status: response.statusCode ?? 0, ...(await read(response, maxBytes)) };
  };
}

/** The connection goes to an address that was judged, whatever the name says by now. */
function post(
  url: URL,
  wish: { headers: Readonly<Record<string, string>>; body: string; addresses: readonly string[] },
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  // Not by an import statement: that of `node:http` would load the whole of `fetch`.
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: "POST",
      headers: { ...wish.headers, "content-type": "application/json" },
      agent: false,
      lookup: pinnedTo(wish.addresses),
      signal,
    });
    sent.once("error", reject);
    sent.once("response", resolve);
    sent.end(wish.body);
  });
}

async function read(
  response: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ body: string; cut: boolean }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.length;
    // Leaving the loop lets the connection go.
    if (bytes > maxBytes) return { body: "", cut: true };
  }
  return { body: Buffer.concat(chunks).toString("utf8"), cut: false };
}
