/** `$'…'`: the escapes of C, decoded as bash decodes them. */

const simple: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "?": "?",
};

/** Undefined for what is not decoded here: then the text is not read at all. */
export function decodeAnsi(raw: string): string | undefined {
  const bytes: number[] = [];
  const coded = /^(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8}))/;
  for (let at = 0; at < raw.length; ) {
    const sign = String.fromCodePoint(raw.codePointAt(at) ?? 0);
    if (sign !== "\\") {
      bytes.push(...encoder.encode(sign));
      at += sign.length;
      continue;
    }
    const rest = raw.slice(at + 1, at + 10);
    const [whole, octal, hex, short, long] = coded.exec(rest) ?? [];
    const first = rest[0] ?? "";
    if (whole !== undefined) {
      const code =
        octal === undefined ? Number.parseInt(hex ?? short ?? long ?? "", 16) : Number.parseInt(octal, 8);
      if (short === undefined && long === undefined) bytes.push(code & 0xff);
      else if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
      else bytes.push(...encoder.encode(String.fromCodePoint(code)));
      at += 1 + whole.length;
    } else if (Object.hasOwn(simple, first)) {
      bytes.push(...encoder.encode(simple[first]));
      at += 2;
    } else if (first === "c" || first === "x" || first === "u" || first === "U" || first === "") {
      return undefined;
    } else {
      bytes.push(0x5c);
      at += 1;
    }
  }
  // For bash a NUL ends the string.
  const end = bytes.indexOf(0);
  return decoder.decode(Uint8Array.from(end < 0 ? bytes : bytes.slice(0, end)));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
