/** What a person's desktop offers: its clipboard, its screen, and the applications that open things. */

export type ScreenPart = "fullscreen" | "window" | "region";

/** Why it did not happen, as a kind for programs and a sentence for the model. */
export type DesktopRefusal = {
  readonly ok: false;
  /** Nobody sits before a screen; no program for it is installed; it failed; it took too long; it was stopped. */
  readonly kind: "no_display" | "no_program" | "failed" | "timed_out" | "stopped";
  readonly why: string;
};

/** Every function settles soon after its signal fires, and at once where there is no desktop. */
export interface DesktopPlatform {
  readClipboard(signal: AbortSignal): Promise<{ readonly ok: true; readonly text: string } | DesktopRefusal>;
  writeClipboard(text: string, signal: AbortSignal): Promise<{ readonly ok: true } | DesktopRefusal>;
  /** A picture in PNG. A window or a region is chosen by the person. */
  screenshot(
    part: ScreenPart,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly png: Uint8Array } | DesktopRefusal>;
  /** A path or an address, in the application that the person has for it; it goes on when Keel ends. */
  open(target: string, signal: AbortSignal): Promise<{ readonly ok: true } | DesktopRefusal>;
}
