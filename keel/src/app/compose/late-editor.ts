/** The editor of a session's folder, loaded when somebody wants one: most sessions have none. */
import type { KeelSettings } from "../../config/settings/settings-schema.ts";
import type { Session } from "../../engine/session.ts";
import { fault } from "../../kernel/fault.ts";
import type { Briefing, BriefingNews } from "../../ports/briefing.ts";
import type { EditorSite, EditorStatus, SessionEditor } from "../editor/session-editor.ts";
import type { OpenOptions } from "../options.ts";

export type LateEditor = {
  /** The session that it is for. Connects beside everything else, where that is wanted: nobody waits for an editor. */
  follow(session: EditedSession): void;
  status(): EditorStatus;
  /** Throws `link_lost` for a name that no editor of this folder has. */
  connect(which?: string): Promise<EditorStatus>;
  leave(): void;
  editors(): ReturnType<SessionEditor["editors"]>;
  close(): void;
  /** What a conversation is told, with what its editor shows. */
  briefing(of: Briefing): Briefing;
};

/** Where editors are looked for. */
type EditorPlace = Pick<EditorSite, "cwd" | "home" | "env" | "clock" | "ids">;

type EditedSession = Pick<EditorSite, "version" | "submit" | "readFile"> & {
  readonly session: Pick<Session, "id" | "relay">;
  readonly words: { readonly whyNotAttached: EditorSite["whyNotTold"] } & Pick<EditorSite, "onEvent">;
  readonly asks: EditorSite["openAsks"];
};

export function lateEditor(
  { cwd, env, ide, asks: answers }: Pick<OpenOptions, "cwd" | "env" | "ide" | "asks">,
  {
    settings,
    ...shared
  }: Omit<EditorPlace, "cwd" | "env"> & { settings: Pick<KeelSettings, "autoConnectIde"> },
): LateEditor {
  const place: EditorPlace = { cwd, env, ...shared };
  const start = ide ?? (answers === "answered" && settings.autoConnectIde);
  let site: EditorSite | undefined;
  let loading: Promise<SessionEditor> | undefined;
  let editor: SessionEditor | undefined;
  let isClosed = false;
  const load = (at: EditorSite): Promise<SessionEditor> => {
    loading ??= import("../editor/session-editor.ts").then((late) => {
      editor = new late.SessionEditor(at);
      if (isClosed) editor.close();
      return editor;
    });
    return loading;
  };
  const loaded = async (): Promise<SessionEditor> => {
    if (!site) throw fault("session_closed");
    return load(site);
  };
  const news = async (turn: string | undefined): Promise<BriefingNews[]> => {
    const content = loading ? await (await loading).news(turn) : [];
    return content.length > 0 ? [{ why: "editor", content }] : [];
  };
  return {
    follow({ session, words, asks, ...given }) {
      const say: EditorSite["say"] = (level, text) => {
        const at = place.clock.now();
        session.relay({ type: "notice.raised", level, text, code: "editor", at, session: session.id });
      };
      const { onEvent, whyNotAttached: whyNotTold } = words;
      site = { ...place, ...given, onEvent, whyNotTold, openAsks: asks, say };
      if (start) void loaded().then((late) => late.connect(undefined, ide ? "warning" : "info"));
    },
    status: () => editor?.status() ?? { state: loading ? "connecting" : "off" },
    connect: async (which) => (await loaded()).connect(which),
    leave: () => editor?.leave(),
    editors: async () => (await loaded()).editors(),
    close() {
      isClosed = true;
      editor?.close();
    },
    briefing: (of) => ({
      ...of,
      start: (tools) => {
        editor?.forget();
        return of.start(tools);
      },
      news: async (tools, turn) => [...((await of.news?.(tools, turn)) ?? []), ...(await news(turn))],
      // What the person looks at is theirs to tell an agent of.
      forAgent: () => of.forAgent?.() ?? of,
    }),
  };
}
