/** Opens an address in the person's browser, by the program that their system has for it. */
import { spawn } from "node:child_process";

const programs: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["explorer.exe"],
};

/** After this long the program is taken to be at work. */
const patienceMs = 1_500;

/** False where there is no screen, no such program, or it says that it failed. Nothing of it is waited for. */
export async function openBrowser(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const hasScreen = env["DISPLAY"] !== undefined || env["WAYLAND_DISPLAY"] !== undefined;
  if (process.platform === "linux" && !hasScreen) return false;
  const [program, ...given] = programs[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(program, [...given, address], { stdio: "ignore", detached: true });
    const timer = setTimeout(() => resolve(true), patienceMs);
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once("error", () => end(false));
    child.once("exit", (code) => end(code === 0));
    child.unref();
  });
}
