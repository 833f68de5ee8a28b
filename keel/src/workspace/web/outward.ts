/** Whether an address that a server on the internet names leads into a private network. */
import { urlGuard } from "./url-guard.ts";

/** Why `url`, which the server at `home` named, must not be asked. A server inside may name what is inside. */
export async function whyNotOutward(
  url: URL,
  { home, allowHosts }: { home: URL; allowHosts: readonly string[] },
): Promise<string | undefined> {
  const guard = urlGuard({ allowHosts });
  const why = async (place: URL): Promise<string | undefined> => {
    const judged = guard.judge(place.href);
    if (!judged.ok) return judged.why;
    try {
      const reachable = await guard.reachable(judged.url);
      return reachable.ok ? undefined : reachable.why;
    } catch {
      return undefined; // A name without an address leads nowhere; the request itself says so.
    }
  };
  const inside = await why(home);
  return inside === undefined ? why(url) : undefined;
}
