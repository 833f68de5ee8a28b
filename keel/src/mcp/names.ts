/** What the model calls the tools and prompts of a server. */
import { fingerprint } from "../kernel/text.ts";

/** The longest name that every provider's adapter can carry. */
const maxCharacters = 128;

/** `mcp__server__tool`, in signs that every provider takes; one that is too long ends in a mark of the whole. */
export function wireName(server: string, name: string): string {
  const whole = `mcp__${plain(server)}__${plain(name)}`;
  if (whole.length <= maxCharacters) return whole;
  const mark = fingerprint(whole);
  return `${whole.slice(0, maxCharacters - mark.length - 1)}_${mark}`;
}

/** What all names of a server start with. */
export const prefixOf = (server: string): string => `mcp__${plain(server)}__`;

const plain = (name: string): string => name.replace(/[^\w-]/g, "_");
