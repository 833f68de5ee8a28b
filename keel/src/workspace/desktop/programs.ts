/** Which programs do a desktop's work, as data: the first one of a list that is installed is taken. */
import type { ScreenPart } from "../../ports/desktop.ts";

export type DesktopKind = "wayland" | "x11" | "darwin" | "win32";

export type DesktopProgram = {
  readonly program: string;
  /** `{file}` stands for a file that the program writes, `{target}` for what it opens. */
  readonly args: readonly string[];
};

type ProgramRow = {
  readonly read: readonly DesktopProgram[];
  readonly write: readonly DesktopProgram[];
  readonly open: readonly DesktopProgram[];
  readonly screen: Readonly<Record<ScreenPart, readonly DesktopProgram[]>>;
};

const of = (program: string, ...args: string[]): DesktopProgram => ({ program, args });
const powershell = (script: string): DesktopProgram =>
  of("powershell.exe", "-NoProfile", "-NonInteractive", "-Command", script);

/** Of all screens together. A window and a region cannot be chosen there. */
const windowsScreen = [
  powershell(
    [
      "Add-Type -AssemblyName System.Windows.Forms,System.Drawing",
      "$b = [System.Windows.Forms.SystemInformation]::VirtualScreen",
      "$i = New-Object System.Drawing.Bitmap $b.Width, $b.Height",
      "[System.Drawing.Graphics]::FromImage($i).CopyFromScreen($b.Location, [System.Drawing.Point]::Empty, $b.Size)",
      "$i.Save('{file}', [System.Drawing.Imaging.ImageFormat]::Png)",
    ].join("; "),
  ),
];

const gnome = (...args: string[]): DesktopProgram => of("gnome-screenshot", ...args, "--file={file}");
const spectacle = (part: string): DesktopProgram => of("spectacle", "-b", "-n", part, "-o", "{file}");
const xdg = [of("xdg-open", "{target}"), of("gio", "open", "{target}")];

export const desktopPrograms: Readonly<Record<DesktopKind, ProgramRow>> = {
  wayland: {
    read: [of("wl-paste", "--no-newline")],
    write: [of("wl-copy")],
    open: xdg,
    screen: {
      fullscreen: [of("grim", "{file}"), gnome(), spectacle("-f")],
      window: [gnome("--window"), spectacle("-a")],
      region: [gnome("--area"), spectacle("-r")],
    },
  },
  x11: {
    read: [of("xclip", "-selection", "clipboard", "-o"), of("xsel", "--clipboard", "--output")],
    write: [of("xclip", "-selection", "clipboard", "-i"), of("xsel", "--clipboard", "--input")],
    open: xdg,
    screen: {
      fullscreen: [
        of("maim", "{file}"),
        of("scrot", "{file}"),
        gnome(),
        spectacle("-f"),
        of("import", "-window", "root", "png:{file}"),
      ],
      window: [of("scrot", "--focused", "{file}"), gnome("--window"), spectacle("-a")],
      region: [
        of("maim", "--select", "{file}"),
        of("scrot", "--select", "{file}"),
        gnome("--area"),
        of("import", "png:{file}"),
      ],
    },
  },
  darwin: {
    read: [of("pbpaste")],
    write: [of("pbcopy")],
    open: [of("open", "{target}")],
    screen: {
      fullscreen: [of("screencapture", "-x", "{file}")],
      window: [of("screencapture", "-x", "-i", "-W", "{file}")],
      region: [of("screencapture", "-x", "-i", "{file}")],
    },
  },
  win32: {
    read: [powershell("[Console]::OutputEncoding = [Text.Encoding]::UTF8; Get-Clipboard -Raw")],
    write: [
      powershell(
        "[Console]::InputEncoding = [Text.Encoding]::UTF8; [Console]::In.ReadToEnd() | Set-Clipboard",
      ),
    ],
    open: [of("rundll32.exe", "url.dll,FileProtocolHandler", "{target}")],
    screen: { fullscreen: windowsScreen, window: [], region: [] },
  },
};

/** Which desktop the process is on; undefined where nobody sits before a screen. */
export function desktopKind(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): DesktopKind | undefined {
  if (platform === "darwin" || platform === "win32") return platform;
  if (env["WAYLAND_DISPLAY"]) return "wayland";
  return env["DISPLAY"] ? "x11" : undefined;
}
