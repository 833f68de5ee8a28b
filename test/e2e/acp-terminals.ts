// The terminals of the editor for tests: real processes that it starts, shows and kills itself.
import { type ChildProcess, spawn } from "node:child_process";
import type { ClientApp, CreateTerminalRequest, WaitForTerminalExitResponse } from "@agentclientprotocol/sdk";

type Terminal = {
  readonly wanted: CreateTerminalRequest;
  readonly child: ChildProcess;
  output: string;
  readonly exited: Promise<WaitForTerminalExitResponse>;
  state: "open" | "killed" | "released";
};

export class EditorTerminals {
  readonly made: Terminal[] = [];

  create(wanted: CreateTerminalRequest): string {
    const { command, args = [], cwd, env = [] } = wanted;
    const child = spawn(command, args, {
      cwd: cwd ?? undefined,
      env: { ...process.env, ...Object.fromEntries(env.map(({ name, value }) => [name, value])) },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = new Promise<WaitForTerminalExitResponse>((resolve) => {
      child.once("close", (exitCode, signal) => resolve({ exitCode, signal }));
    });
    const terminal: Terminal = { wanted, child, output: "", exited, state: "open" };
    const hear = (chunk: Buffer): void => {
      terminal.output += chunk.toString("utf8");
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    this.made.push(terminal);
    return `terminal-${this.made.length}`;
  }

  find(id: string): Terminal {
    const found = this.made[Number(id.replace("terminal-", "")) - 1];
    if (!found || found.state === "released") throw new Error(`no terminal ${id}`);
    return found;
  }

  end(terminal: Terminal): void {
    try {
      if (terminal.child.pid !== undefined) process.kill(-terminal.child.pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}

export function offerTerminals(app: ClientApp, terminals: EditorTerminals): void {
  app
    .onRequest("terminal/create", ({ params }) => ({ terminalId: terminals.create(params) }))
    .onRequest("terminal/output", async ({ params }) => {
      const { output, child, exited } = terminals.find(params.terminalId);
      const isOver = child.exitCode !== null || child.signalCode !== null;
      return { output, truncated: false, ...(isOver ? { exitStatus: await exited } : {}) };
    })
    .onRequest("terminal/wait_for_exit", ({ params }) => terminals.find(params.terminalId).exited)
    .onRequest("terminal/kill", ({ params }) => {
      const terminal = terminals.find(params.terminalId);
      terminal.state = "killed";
      terminals.end(terminal);
      return {};
    })
    .onRequest("terminal/release", ({ params }) => {
      const terminal = terminals.find(params.terminalId);
      terminals.end(terminal);
      terminal.state = "released";
      return {};
    });
}
