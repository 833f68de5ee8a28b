/** What sessions need, loaded once an editor is met. */
import { openHome } from "../../app/home.ts";
import type { OpenOptions } from "../../app/options.ts";
import type { RpcHandler } from "../../transport/json-rpc.ts";
import { agentOf, methodsV1, methodsV2 } from "./agent.ts";
import type { AcpVersion } from "./capabilities.ts";
import { LentTerminals } from "./editor-ports.ts";
import { EditorSessions } from "./sessions.ts";
import { wordingV1 } from "./v1.ts";
import { wordingV2 } from "./v2.ts";
import type { EditorWire } from "./wire.ts";

export type EditorServing = {
  readonly place: Pick<OpenOptions, "env" | "cwd">;
  /** What holds for each session. */
  readonly options: Omit<OpenOptions, "cwd" | "home">;
  readonly wire: EditorWire;
  readonly spoken: AcpVersion;
};

export function openServed({ place, options, wire, spoken }: EditorServing) {
  const home = openHome(place);
  const terminals = wire.can.terminals ? new LentTerminals(wire, home.clock) : undefined;
  const hasTerminal = (id: string): boolean => terminals?.has(id) ?? false;
  const wording = spoken === 1 ? wordingV1({ shows: wire.can.shows, hasTerminal }) : wordingV2;
  const sessions = new EditorSessions({ home, options, wire, wording, terminals });
  const methods = spoken === 1 ? methodsV1(sessions) : methodsV2(sessions);
  const agent = preparing(agentOf(sessions, methods), () => import("../../app/open-session.ts"));
  return { sessions, home, agent };
}

/**
 * What a session is made of is on its way before the editor asks for one, but never before an answer that it waits for:
 * to load it holds up everything for a while.
 */
function preparing(agent: RpcHandler, load: () => Promise<unknown>): RpcHandler {
  let waiting = 0;
  // Twice: what the editor has written meanwhile is read in between.
  const prepare = (): void =>
    void setImmediate(() =>
      setImmediate(() => {
        if (waiting === 0) void load();
      }),
    );
  prepare();
  return {
    ...agent,
    async request(call) {
      waiting += 1;
      try {
        return await agent.request(call);
      } finally {
        waiting -= 1;
        prepare();
      }
    },
  };
}
