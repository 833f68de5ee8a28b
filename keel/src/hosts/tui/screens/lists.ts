import type { RuleList } from "../../../protocol/settings.ts";
import { sayDuration } from "../../../view/say.ts";
import { edit } from "../input/editor.ts";
import { just } from "../screen/on-event.ts";
import { listPanel, type PanelItem, textPanel } from "../screen/panel.ts";
import { allClosed, ask, closed, push, ready, type ScreenRow } from "../screen/screen-row.ts";
import { runningWork } from "../screen/state.ts";

const listNotes = {
  allow: "What it names is done without a question",
  ask: "What it names is asked every time",
  deny: "What it names is refused, whatever else allows it",
} as const satisfies Record<RuleList, string>;

const awayNotes: Readonly<Record<string, string>> = {
  session: "it was learnt in this session",
  user: "also from your own settings",
  project: "also from the settings of the project",
  local: "also from your settings for this project",
};

/** What is off or waits for a person is none of these. */
const serverMarks: Readonly<Record<string, PanelItem["mark"]>> = {
  connected: "done",
  failed: "failed",
  pending: "running",
};

/** A row of the list of rules, by its id. */
function ruleIn(id: string): { list: RuleList; source: string; text: string } | undefined {
  const [, list, source = "", ...rest] = id.split(":");
  if (list !== "allow" && list !== "ask" && list !== "deny") return undefined;
  return { list, source, text: rest.join(":") };
}

export const listScreens: readonly ScreenRow[] = [
  {
    names: ["permissions", "allowed-tools"],
    alone: true,
    open: (state) =>
      push(
        state,
        listPanel(
          "permissions",
          "Rules",
          "loading",
          "Enter or Delete: what it is, and to take it away",
          "No rules: the permission mode alone decides. A question can remember one.",
        ),
        ask("rules", "permissions"),
      ),
    fill: (panel, got) =>
      got.what === "inquiry" && got.name === "rules"
        ? ready(
            panel,
            got.answer.map(({ list, rule, source }, index) => ({
              id: `${index}:${list}:${source}:${rule}`,
              label: `${list.padEnd(5)} ${rule}`,
              note: source,
              ...(list === "deny"
                ? { mark: "failed" as const }
                : list === "allow"
                  ? { mark: "done" as const }
                  : {}),
            })),
          )
        : panel,
    choose: (state, item, key) => {
      const rule = ruleIn(item.id);
      if (!rule || (key !== "enter" && key !== "delete")) return just(state);
      const { list, source, text } = rule;
      const isOurs = source === "session" || source === "user" || source === "project" || source === "local";
      const away = { id: item.id, label: "Take it away", note: awayNotes[source] ?? "" };
      const stay = {
        id: "leave",
        label: "Leave it",
        note: isOurs ? "" : `the ${source} settings cannot be changed here`,
      };
      const panel = listPanel("rule", text, isOurs ? [away, stay] : [stay], listNotes[list]);
      return push(state, panel);
    },
  },
  {
    names: ["rule"],
    inner: true,
    open: (state) => just(state),
    choose: (state, item) => {
      const rule = ruleIn(item.id);
      if (!rule) return just(closed(state));
      return just(closed(state), {
        type: "drop-rule",
        list: rule.list,
        rule: rule.text,
        source: rule.source,
      });
    },
  },
  {
    names: ["mcp"],
    alone: true,
    open: (state) =>
      push(
        state,
        listPanel(
          "mcp",
          "MCP servers",
          "loading",
          "Enter: its tools, and what can be done with it",
          "No servers of tools. `keel mcp add NAME COMMAND` adds one.",
        ),
        ask("servers", "mcp"),
      ),
    fill: (panel, got) =>
      got.what === "inquiry" && got.name === "servers"
        ? ready(
            panel,
            got.answer.map((server) => ({
              id: server.name,
              label: server.name,
              note: `${server.status === "needs-auth" ? "needs a login" : server.status}${Array.isArray(server["tools"]) ? `, ${server["tools"].length} tools` : ""}`,
              mark: serverMarks[server.status],
            })),
          )
        : panel,
    choose: (state, item) => {
      const status = item.note.split(",")[0] ?? "";
      const tools = { id: `tools ${item.id}`, label: "Show its tools", note: "" };
      const again = { id: `reconnect ${item.id}`, label: "Connect anew", note: "" };
      const off = {
        id: `disable ${item.id}`,
        label: "Switch it off for this session",
        note: "",
      };
      const on = { id: `enable ${item.id}`, label: "Switch it on", note: "" };
      const login = {
        id: `login ${item.id}`,
        label: "Log in",
        note: "its command goes into the clipboard",
      };
      const actions =
        status === "disabled"
          ? [on]
          : status === "needs a login"
            ? [login, again, off]
            : status === "connected"
              ? [tools, again, off]
              : [again, off];
      return push(state, listPanel("server-actions", item.label, actions, item.note));
    },
  },
  {
    names: ["server-actions"],
    inner: true,
    open: (state) => just(state),
    choose: (state, item) => {
      const [what = "", ...rest] = item.id.split(" ");
      const name = rest.join(" ");
      if (what === "tools")
        return push(closed(state), textPanel("server", name, "loading"), {
          type: "inquire",
          name: "servers",
          question: {},
          tag: `server:${name}`,
        });
      if (what === "login")
        return just(closed(state), {
          type: "copy",
          text: `keel mcp login ${name}`,
          said: `In the clipboard: keel mcp login ${name}. Then connect it anew here.`,
        });
      const words = { type: "text", text: `/mcp ${what} ${name}` } as const;
      return just(closed(state), {
        type: "submit",
        command: { type: "input", content: [words] },
        tag: "servers",
      });
    },
  },
  {
    names: ["agents"],
    alone: true,
    open: (state) => {
      const running = runningWork(state).flatMap((row) =>
        row.kind === "agent"
          ? [
              {
                id: `run:${row.taskId}`,
                label: `${row.agent}: ${row.title}`,
                note: sayDuration(Math.max(0, state.now - row.at)),
                mark: "running" as const,
              },
            ]
          : [],
      );
      const kinds = (state.session.facts?.agents ?? []).map(({ name, description }) => ({
        id: `kind:${name}`,
        label: name,
        note: description,
      }));
      return push(
        state,
        listPanel(
          "agents",
          "Agents",
          [...running, ...kinds],
          "Enter mentions a kind; Ctrl-X stops one that runs",
        ),
      );
    },
    choose: (state, item, key) => {
      const [what, ...rest] = item.id.split(":");
      const name = rest.join(":");
      if (what === "run") {
        return key === "ctrl+x"
          ? just(closed(state), { type: "submit", command: { type: "stop", taskId: name } })
          : just(state);
      }
      return just(
        allClosed({ ...state, editor: edit(state.editor, { type: "insert", text: `@agent-${name} ` }) }),
      );
    },
  },
  {
    names: ["tasks", "bashes"],
    alone: true,
    open: (state) =>
      push(
        state,
        listPanel(
          "tasks",
          "Tasks",
          runningWork(state).map((row) => ({
            id: row.taskId,
            label: row.title,
            note: `${row.kind === "agent" ? row.agent : "command"}, ${sayDuration(Math.max(0, state.now - row.at))}`,
            mark: "running" as const,
          })),
          "Enter shows its output, Ctrl-X stops it",
          "Nothing runs in the background. Ctrl-B sends what runs there.",
        ),
      ),
    choose: (state, item, key) =>
      key === "ctrl+x"
        ? just(closed(state), { type: "submit", command: { type: "stop", taskId: item.id } })
        : push(state, textPanel("output", item.label, "loading"), {
            type: "inquire",
            name: "taskOutput",
            question: { id: item.id },
            tag: "output",
          }),
  },
];
