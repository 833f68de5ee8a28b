/**
 * Certificates for hosts whose requests get a key from the proxy: an authority that lives in memory as long as a session,
 * and what it vouches for. Its own key is never written down.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

/** As PEM. */
export type Issued = { readonly key: string; readonly cert: string };

export type Authority = { readonly cert: string; issue(host: string): Issued };

const daysMs = 24 * 60 * 60_000;
/** Clocks differ; a session may be long. */
const validMs = { before: daysMs, after: 30 * daysMs };

export function newAuthority(nowMs: number, name = "Keel sandbox, this session only"): Authority {
  const own = newKey();
  const signedBy = { name, ...own };
  const leaf = newKey();
  const known = new Map<string, Issued>();
  const extensions = [
    extension(oids.basicConstraints, sequence(boolean(true), integer(Buffer.from([0]))), "critical"),
    // Signs certificates, and nothing else.
    extension(oids.keyUsage, Buffer.from([0x03, 0x02, 0x02, 0x04]), "critical"),
    extension(oids.subjectKey, octets(own.id)),
  ];
  return {
    cert: certificate({ subject: name, spki: own.spki, extensions, signedBy, nowMs }),
    issue(host) {
      const issued = known.get(host) ?? {
        key: leaf.key.export({ type: "pkcs8", format: "pem" }).toString(),
        cert: certificate({ subject: "", spki: leaf.spki, extensions: leafFor(host), signedBy, nowMs }),
      };
      known.set(host, issued);
      return issued;
    },
  };
  function leafFor(host: string): Buffer[] {
    return [
      extension(oids.basicConstraints, sequence(), "critical"),
      extension(oids.keyUsage, Buffer.from([0x03, 0x02, 0x07, 0x80]), "critical"),
      extension(oids.extendedUsage, sequence(oid(oids.serverAuth))),
      extension(oids.subjectKey, octets(leaf.id)),
      extension(oids.authorityKey, sequence(der(0x80, own.id))),
      // The subject is empty: the name stands here, and has to be read.
      extension(oids.alternativeName, sequence(alternativeName(host)), "critical"),
    ];
  }
}

type SigningKeys = { readonly key: KeyObject; readonly spki: Buffer; readonly id: Buffer };

function newKey(): SigningKeys {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  return { key: privateKey, spki, id: createHash("sha1").update(spki).digest() };
}

function certificate(given: {
  readonly subject: string;
  readonly spki: Buffer;
  readonly extensions: readonly Buffer[];
  readonly signedBy: { readonly name: string; readonly key: KeyObject };
  readonly nowMs: number;
}): string {
  const { subject, spki, extensions, signedBy, nowMs } = given;
  const algorithm = sequence(oid(oids.ecdsaWithSha256));
  // Positive, and not zero: its first byte is between 0x40 and 0x7f.
  const serial = randomBytes(16).map((byte, at) => (at === 0 ? (byte & 0x3f) | 0x40 : byte));
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    distinguished(signedBy.name),
    sequence(time(nowMs - validMs.before), time(nowMs + validMs.after)),
    distinguished(subject),
    spki,
    der(0xa3, sequence(...extensions)),
  );
  const whole = sequence(body, algorithm, bits(sign("sha256", body, signedBy.key)));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** Object identifiers, as DER writes their content. */
const oids = {
  ecdsaWithSha256: "2a8648ce3d040302",
  commonName: "550403",
  subjectKey: "551d0e",
  keyUsage: "551d0f",
  alternativeName: "551d11",
  basicConstraints: "551d13",
  authorityKey: "551d23",
  extendedUsage: "551d25",
  serverAuth: "2b06010505070301",
} as const;

function alternativeName(host: string): Buffer {
  if (isIP(host) === 0) return der(0x82, Buffer.from(host, "latin1"));
  return der(0x87, addressBytes(host));
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const [before = "", after] = address.split("::");
  const words = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16));
  const [head, tail] = [words(before), words(after ?? "")];
  const zeros = after === undefined ? [] : Array<number>(8 - head.length - tail.length).fill(0);
  return Buffer.from([...head, ...zeros, ...tail].flatMap((word) => [word >> 8, word & 0xff]));
}

const extension = (id: string, value: Buffer, weight?: "critical"): Buffer =>
  sequence(oid(id), ...(weight ? [boolean(true)] : []), octets(value));

const distinguished = (name: string): Buffer =>
  name === ""
    ? sequence()
    : sequence(der(0x31, sequence(oid(oids.commonName), der(0x0c, Buffer.from(name)))));

/** One DER value: its tag, its length, its content. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(content);
  const { length } = value;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const integer = (value: Uint8Array): Buffer => der(0x02, value);
const boolean = (value: boolean): Buffer => der(0x01, Buffer.from([value ? 0xff : 0]));
const octets = (value: Uint8Array): Buffer => der(0x04, value);
const bits = (value: Uint8Array): Buffer => der(0x03, Buffer.from([0]), value);
const oid = (id: string): Buffer => der(0x06, Buffer.from(id, "hex"));
/** Until 2049, which no session reaches. */
const time = (atMs: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(atMs).toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`));
