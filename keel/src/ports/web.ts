/** The web as tools see it: pages that are fetched under a guard, and a search engine that the user has chosen. */
import type { Refused } from "../kernel/result.ts";

export type WebPage = {
  /** Where it was found in the end, after redirects on the same host. */
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly mediaType: string;
  /** Bytes of the body, unpacked. */
  readonly bytes: number;
  readonly title: string;
  /** HTML as Markdown; any other text as it is. */
  readonly text: string;
  /** `part`: the page was longer than what is fetched at most. */
  readonly extent: "whole" | "part";
};

export type WebAnswer =
  | { readonly kind: "page"; readonly page: WebPage }
  /** It stands on another host now. Nothing was fetched from there: that host has a permission of its own. */
  | { readonly kind: "moved"; readonly status: number; readonly statusText: string; readonly to: string }
  /** A sentence for the model. */
  | { readonly kind: "refused"; readonly why: string };

export type WebAddress = { readonly ok: true; readonly url: string } | Refused;

export interface Web {
  /** The one spelling of an address that may be fetched, or why it never may. Reaches nothing. */
  address(url: string): Promise<WebAddress>;
  /** Takes what `address` gave. Bounded in time, size and redirects; settles soon after the signal fires. */
  fetch(url: string, signal: AbortSignal): Promise<WebAnswer>;
}

/** Shortens a page to what was asked about it. Where none is given, the model reads the page itself. */
export type Digest = (
  request: { readonly url: string; readonly text: string; readonly prompt: string },
  signal: AbortSignal,
) => Promise<string>;

export type WebHit = { readonly title: string; readonly url: string; readonly snippet: string };

export type WebHits = { readonly ok: true; readonly hits: readonly WebHit[] } | Refused;

export interface WebSearch {
  /** Why nothing can be searched: no search engine is set up. Undefined when one is. */
  missing(): Promise<string | undefined>;
  search(request: { readonly query: string; readonly most: number }, signal: AbortSignal): Promise<WebHits>;
}
