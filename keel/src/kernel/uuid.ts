/** UUIDs made from names: the same log gives the same ids, in every process and without a source of chance. */

export type UUID = `${string}-${string}-${string}-${string}-${string}`;

/**
 * A UUID of version 8. Four lanes of 32 bits take in each character and pass it on to their neighbour; each step can be
 * undone, so two names meet only by chance. It tells names apart, and is no proof against somebody who forges them.
 */
export function uuidFrom(name: string): UUID {
  let a = 0x2545f491;
  let b = 0x9e3779b9;
  let c = 0x6c62272e;
  let d = 0x510e527f;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    a = Math.imul(a ^ (d >>> 15) ^ code, 0x7feb352d);
    b = Math.imul(b ^ (a >>> 13) ^ code, 0x31848bab);
    c = Math.imul(c ^ (b >>> 16) ^ code, 0x1b873593);
    d = Math.imul(d ^ (c >>> 14) ^ code, 0x5bd1e995);
  }
  for (let round = 0; round < 3; round++) {
    a = stir(a ^ d, name.length);
    b = stir(b ^ a, round);
    c = stir(c ^ b, round);
    d = stir(d ^ c, round);
  }
  const second = hex(b);
  const third = hex(c);
  const variant = "89ab"[c >>> 30];
  return `${hex(a)}-${second.slice(0, 4)}-8${second.slice(5)}-${variant}${third.slice(1, 4)}-${third.slice(4)}${hex(d)}`;
}

export const isUuid = (text: string): text is UUID =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);

/** Every bit of the input changes about half of the bits that come out. */
function stir(value: number, salt: number): number {
  let mixed = (value + Math.imul(salt + 1, 0x9e3779b9)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}

const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, "0");
