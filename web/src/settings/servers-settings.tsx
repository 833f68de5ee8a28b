/** The MCP servers of a session, and how each stands. */
import { visible } from "keel/view";
import type { ReactElement } from "react";
import { Sign, type SignKind } from "../kit/sign.tsx";
import { useInquiry } from "../live/use-inquiry.ts";
import { words } from "../words.ts";
import { OfSession } from "./of-session.tsx";

export const ServersSettings = (): ReactElement => (
  <OfSession>{(session) => <Servers session={session} />}</OfSession>
);

const signs: Readonly<Record<string, SignKind>> = {
  connected: "done",
  failed: "failed",
  pending: "active",
  "needs-auth": "asking",
};

function Servers({ session }: { readonly session: string }): ReactElement {
  const servers = useInquiry(session, "servers");
  if (servers?.length === 0) return <p className="quiet">{words.settings.noServers}</p>;
  return (
    <ul className="rules">
      {servers?.map(({ name, status, ...more }) => (
        <li key={name}>
          <Sign kind={signs[status] ?? "idle"} />
          <strong>{visible(name)}</strong>
          <span className="quiet">{visible(status)}</span>
          {typeof more["error"] === "string" && <span className="quiet">{visible(more["error"])}</span>}
        </li>
      ))}
    </ul>
  );
}
