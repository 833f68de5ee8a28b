/** A whole session as one page of Markdown, from its log. */
import type { KeelClient } from "keel/client";
import type { Durable } from "keel/protocol";
import { documentOf, toMarkdown } from "keel/view";

export async function sessionAsMarkdown(client: KeelClient, session: string): Promise<string> {
  const all: Durable[] = [];
  for (;;) {
    const { events, more } = await client.history({ session, after: all.at(-1)?.seq ?? 0 });
    all.push(...events);
    if (!more) return toMarkdown(documentOf(all));
  }
}
