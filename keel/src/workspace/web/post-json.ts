/** Tells an address something and reads its answer: a hook over HTTP. This machine, named hosts and the public web only. */
import { fault } from "../../kernel/fault.ts";
import type { PostJson } from "../../ports/hook-programs.ts";
import { plainHost, urlGuard } from "./url-guard.ts";
import { readBody, send } from "./web-request.ts";

/** Where plain HTTP is no risk: nothing leaves the machine. */
const ownHosts = ["localhost", "127.0.0.1", "[::1]"];

/** `allowHosts`: hosts of private networks that the user's own settings name. */
export function jsonPoster({ allowHosts }: { allowHosts: readonly string[] }): PostJson {
  const guard = urlGuard({ allowHosts: [...ownHosts, ...allowHosts] });
  return async ({ url: address, headers, body, maxBytes }, signal) => {
    const judged = guard.judge(address);
    if (!judged.ok) throw fault("hook_failed", { reason: judged.why });
    const { url } = judged;
    const isOwn = ["localhost", "127.0.0.1", "::1"].includes(plainHost(url));
    if (url.protocol !== "https:" && !isOwn)
      throw fault("hook_failed", { reason: "Plain http is only for this machine. Use https." });
    const reachable = await guard.reachable(url);
    if (!reachable.ok) throw fault("hook_failed", { reason: reachable.why });
    const sent = { ...headers, "content-type": "application/json" };
    const { response } = await send(
      { url, addresses: reachable.addresses, headers: sent, post: body },
      signal,
    );
    return { status: response.statusCode ?? 0, ...(await readBody(response, maxBytes)) };
  };
}
