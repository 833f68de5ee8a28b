/** The colours of the page as a terminal takes them. */
import type { ITheme } from "@xterm/xterm";

const names = {
  background: "--surface-0",
  foreground: "--ink-0",
  cursor: "--accent",
  cursorAccent: "--surface-0",
  selectionBackground: "--accent-soft",
  black: "--ink-0",
  red: "--red",
  green: "--green",
  yellow: "--amber",
  blue: "--accent",
  magenta: "--violet",
  cyan: "--teal",
  white: "--ink-1",
  brightBlack: "--ink-2",
  brightRed: "--red",
  brightGreen: "--green",
  brightYellow: "--amber",
  brightBlue: "--accent",
  brightMagenta: "--violet",
  brightCyan: "--teal",
  brightWhite: "--ink-0",
} as const satisfies Partial<Record<keyof ITheme, string>>;

export function terminalTheme(of: Element): ITheme {
  const probe = document.createElement("span");
  of.append(probe);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const theme = Object.entries(names).map(([name, variable]) => {
    probe.style.color = `var(${variable})`;
    return [name, canvas ? asHex(canvas, getComputedStyle(probe).color) : undefined];
  });
  probe.remove();
  return Object.fromEntries(theme);
}

function asHex(canvas: CanvasRenderingContext2D, colour: string): string {
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
