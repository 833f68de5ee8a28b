/**
 * Who tidies up after a place, however Keel ends: a small process beside it that waits for its end, removes the place's
 * own folder and the folders that were made for its sake, these only if they are empty.
 */
import { letGo } from "../processes/let-go.ts";
import { spawned } from "../processes/spawned.ts";
import { systemPath, systemProgram } from "../processes/system-programs.ts";

export type Caretaker = {
  /** From now on it is removed too, if it is empty then. */
  mind(folder: string): void;
  /** Nothing but its own folder is removed: whoever minds the others is still there. */
  close(): Promise<void>;
};

/** Where Keel was killed, what it had just started may still write for a moment: then it is looked at again. */
const words = `trap '' HUP INT QUIT TERM
looks=10
while IFS= read -r folder; do
  case $folder in
    done) set -- ; looks=0; break ;;
    *) set -- "$@" "$folder" ;;
  esac
done
rm -rf -- "$0"
for folder; do rmdir -- "$folder"; done
while [ "$looks" -gt 0 ]; do
  looks=$((looks - 1))
  sleep 0.2
  [ ! -e "$0" ] || rm -rf -- "$0"
done`;

/** Of a folder of our own, which goes with all that is in it. */
export function startCaretaker(own: string): Caretaker {
  const child = spawned(systemProgram("sh"), ["-c", words, own], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: { PATH: systemPath },
    cwd: "/",
  });
  const { stdin } = child;
  stdin?.on("error", () => undefined); // It has ended; there is nothing to be done.
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve()).once("error", () => resolve());
  });
  child.unref();
  letGo(stdin);
  return {
    mind: (folder) => void stdin?.write(`${folder}\n`),
    async close() {
      child.ref();
      stdin?.end("done\n");
      await gone;
    },
  };
}
