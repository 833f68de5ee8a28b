// One side of a move as a process of its own, which kills itself behind the step that it is told, or is killed from outside.
import { openHome } from "../../keel/src/app/home.ts";

export type ChildTask = {
  readonly env: Record<string, string>;
  readonly host: string;
  readonly cwd: string;
  /** Behind so many steps it is killed; never when left out. */
  readonly killAt?: number | undefined;
} & (
  | { readonly does: "to-file"; readonly session: string; readonly file: string }
  | { readonly does: "from-file"; readonly file: string; readonly folder: string }
  | { readonly does: "to-server"; readonly session: string; readonly socket: string; readonly folder: string }
  | { readonly does: "serve"; readonly socket: string }
);

const task: ChildTask = JSON.parse(process.argv[2] ?? "");
let steps = 0;
const step = async (name: string): Promise<void> => {
  steps++;
  if (steps === task.killAt) {
    process.stdout.write(`killed behind ${name}\n`);
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => undefined);
  }
};
const home = openHome({ cwd: task.cwd, env: task.env });
const ports = home.movePorts({ env: task.env, host: task.host, secrets: [], step });

switch (task.does) {
  case "to-file":
    await (await import("../../keel/src/app/moves/move-to-file.ts")).moveToFile(
      { session: task.session, file: task.file, files: "new" },
      ports,
    );
    break;
  case "from-file":
    await (await import("../../keel/src/app/moves/take-file.ts")).takeFile(
      { file: task.file, folder: task.folder },
      ports,
    );
    break;
  case "to-server": {
    const { connectLocally } = await import("../../keel/src/app/sessions/home-server.ts");
    const { moveToServer } = await import("../../keel/src/app/moves/move-to-server.ts");
    const client = connectLocally(task.socket);
    const { socket: name, folder, session } = task;
    const target = { kind: "server" as const, name, folder, moves: client.moves };
    await moveToServer({ session, files: "new", target }, ports).finally(() => client.close());
    break;
  }
  case "serve": {
    const { env } = task;
    const { ServedSessions } = await import("../../keel/src/app/sessions/served-sessions.ts");
    const { openWebDoor } = await import("../../keel/src/hosts/server/web-door.ts");
    const { Devices } = await import("../../keel/src/hosts/server/devices.ts");
    const { Pairings } = await import("../../keel/src/hosts/server/pairings.ts");
    const served = new ServedSessions({
      home,
      env,
      version: "0",
      boot: String(process.pid),
      pid: process.pid,
      clients: () => 0,
      reached: step,
    });
    const devices = await Devices.open(`${home.path}/server`, () => Date.now());
    const pairings = new Pairings({
      add: (name, access) => devices.add(name, access),
      now: () => Date.now(),
    });
    const hello = { keel: "0", boot: String(process.pid) };
    const door = openWebDoor({ served, hello, devices, pairings, keeper: undefined });
    door.server.listen(task.socket, () => process.stdout.write("listens\n"));
    await new Promise(() => undefined);
  }
}
process.exit(0);
