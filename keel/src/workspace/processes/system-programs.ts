/** Programs of the system itself, for what stands between Keel and a command: no folder that a command can write to names them. */
import { accessSync, constants } from "node:fs";

const folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/run/current-system/sw/bin"];

/** Where they are looked for, as a PATH. */
export const systemPath = folders.join(":");

/** Its path, or its bare name where none of these folders has it. */
export function systemProgram(name: string): string {
  const found = folders.find((folder) => {
    try {
      accessSync(`${folder}/${name}`, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  return found === undefined ? name : `${found}/${name}`;
}
