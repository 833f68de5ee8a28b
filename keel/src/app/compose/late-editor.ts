/** The editor of a session's folder, loaded when somebody wants one: most sessions have none. */
import type { Briefing, BriefingNews } from "../../ports/briefing.ts";
import type { EditorSite, EditorStatus, SessionEditor } from "../editor/session-editor.ts";

export type LateEditor = {
  /** The session that it is for. */
  follow(session: Omit<EditorSite, keyof EditorPlace>): void;
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

export function lateEditor(place: EditorPlace): LateEditor {
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
    if (!site) throw new TypeError("The session is not open yet.");
    return load(site);
  };
  const news = async (turn: string | undefined): Promise<BriefingNews[]> => {
    const content = loading ? await (await loading).news(turn) : [];
    return content.length > 0 ? [{ why: "editor", content }] : [];
  };
  return {
    follow(session) {
      site = { ...place, ...session };
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
