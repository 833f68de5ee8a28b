// Its own declarations bring those of a browser into every file of the project.
declare module "@xterm/addon-serialize/lib/addon-serialize.mjs" {
  import type { ITerminalAddon } from "@xterm/headless";

  export class SerializeAddon implements ITerminalAddon {
    activate(terminal: unknown): void;
    serialize(options?: { scrollback?: number; excludeModes?: boolean; excludeAltBuffer?: boolean }): string;
    dispose(): void;
  }
}
