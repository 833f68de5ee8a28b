import { sayDuration } from "../../../view/say.ts";
import { edit } from "../input/editor.ts";
import { just } from "../screen/on-event.ts";
import { listPanel, textPanel } from "../screen/panel.ts";
import { allClosed, ask, closed, push, ready, type ScreenRow, set } from "../screen/screen-row.ts";
import { runningWork } from "../screen/state.ts";

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
          "Delete takes away one that this session learnt",
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
      const [, list = "", source = "", ...rest] = item.id.split(":");
      if (key !== "delete" || source !== "session" || (list !== "allow" && list !== "ask" && list !== "deny"))
        return just(state);
      const change = {
        type: "rules" as const,
        change: "remove" as const,
        list: list as "allow",
        rules: [rest.join(":")],
      };
      return just(closed(state), set({ permissions: [change] }), ask("rules", "permissions"));
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
          "Enter shows its tools",
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
              note: `${server.status}${Array.isArray(server["tools"]) ? `, ${server["tools"].length} tools` : ""}`,
              mark:
                server.status === "connected"
                  ? ("done" as const)
                  : server.status === "failed"
                    ? ("failed" as const)
                    : ("running" as const),
            })),
          )
        : panel,
    choose: (state, item) =>
      push(state, textPanel("server", item.label, "loading"), {
        type: "inquire",
        name: "servers",
        question: {},
        tag: `server:${item.id}`,
      }),
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
