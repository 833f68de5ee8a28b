/** A certificate that nobody vouches for, made anew for each test, so that no key stands in the repository. */
import { generateKeyPairSync, sign } from "node:crypto";

export function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(commonName, utf8("keel test"))));
  const body = sequence(
    integer(1),
    ecdsaWithSha256,
    name,
    sequence(time("250101000000Z"), time("491231000000Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const certificate = sequence(body, ecdsaWithSha256, bits(sign("sha256", body, privateKey)));
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64")}\n-----END CERTIFICATE-----\n`,
  };
}

/** One DER value: its tag, its length, its content. */
function der(tag: number, ...content: Uint8Array[]): Buffer {
  const value = Buffer.concat(content);
  const { length } = value;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
const set = (...parts: Uint8Array[]): Buffer => der(0x31, ...parts);
const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));
const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
const time = (text: string): Buffer => der(0x17, Buffer.from(text));
const bits = (value: Uint8Array): Buffer => der(0x03, Buffer.from([0]), value);

const commonName = Buffer.from("0603550403", "hex");
const ecdsaWithSha256 = Buffer.from("300a06082a8648ce3d040302", "hex");
