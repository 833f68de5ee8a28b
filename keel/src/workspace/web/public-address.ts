/**
 * Which addresses belong to the public internet. Everything else (this machine, its network, the cloud it runs in)
 * must not be reached by what a web page or a model says. Pure; what cannot be read as an address is refused.
 */
import { BlockList, isIP } from "node:net";

/** What is wrong with the address, such as "a private address"; undefined when it is public. */
export function whyNotPublic(address: string): string | undefined {
  switch (isIP(address)) {
    case 4:
      return ranges4.find((range) => isWithin(address, "ipv4", range))?.[2];
    case 6:
      return whyNotPublic6(address.split("%")[0] ?? "");
    default:
      return "not an address";
  }
}

type Range = readonly [start: string, length: number, what: string];

const ranges4: readonly Range[] = [
  ["0.0.0.0", 8, "an address of this network"],
  ["10.0.0.0", 8, "a private address"],
  ["100.64.0.0", 10, "an address of a provider's own network"],
  ["127.0.0.0", 8, "a loopback address"],
  ["169.254.0.0", 16, "a link-local address"],
  ["172.16.0.0", 12, "a private address"],
  ["192.0.0.0", 24, "a reserved address"],
  ["192.0.2.0", 24, "an address for documentation"],
  ["192.31.196.0", 24, "a reserved address"],
  ["192.52.193.0", 24, "a reserved address"],
  ["192.88.99.0", 24, "a relay address"],
  ["192.168.0.0", 16, "a private address"],
  ["192.175.48.0", 24, "a reserved address"],
  ["198.18.0.0", 15, "an address for measurements"],
  ["198.51.100.0", 24, "an address for documentation"],
  ["203.0.113.0", 24, "an address for documentation"],
  // Public by its number, but on virtual machines of one cloud it answers with their secrets.
  ["168.63.129.16", 32, "a metadata address"],
  ["224.0.0.0", 4, "a multicast address"],
  ["240.0.0.0", 4, "a reserved address"],
];

/** Only this part of the new address space is given out at all; the rest is local, reserved or an odd spelling. */
const global6: Range = ["2000::", 3, ""];

const ranges6: readonly Range[] = [
  ["2001::", 23, "a tunnel or reserved address"],
  ["2001:db8::", 32, "an address for documentation"],
  ["2002::", 16, "a tunnel address"],
  ["3fff::", 20, "an address for documentation"],
  ["2620:4f:8000::", 48, "a reserved address"],
];

/** Networks without old addresses write them like this; the old address in its end is what is reached. */
const translated6: Range = ["64:ff9b::", 96, ""];

const local6: readonly Range[] = [
  ["::", 128, "an unspecified address"],
  ["::1", 128, "a loopback address"],
  ["::ffff:0:0", 96, "an old address in a new spelling"],
  ["fc00::", 7, "a private address"],
  ["fe80::", 10, "a link-local address"],
  ["fec0::", 10, "a private address"],
  ["ff00::", 8, "a multicast address"],
];

/** What a name of a private network may lead to: this machine and its network, but not what a cloud tells its machines. */
export function isOwnNetwork(address: string): boolean {
  const family = isIP(address) === 4 ? "ipv4" : "ipv6";
  return (
    isIP(address) !== 0 &&
    !metadata6.some((range) => family === "ipv6" && isWithin(address, family, range)) &&
    ownNetworks[family].some((range) => isWithin(address, family, range))
  );
}

const ownNetworks: Readonly<Record<"ipv4" | "ipv6", readonly Range[]>> = {
  ipv4: ranges4.filter(([start]) => /^(?:10|127|172|192\.168)\./.test(start)),
  ipv6: [
    ["::1", 128, ""],
    ["fc00::", 7, ""],
  ],
};
const metadata6: readonly Range[] = [["fd00:ec2::254", 128, ""]];

function whyNotPublic6(address: string): string | undefined {
  const within = (range: Range): boolean => isWithin(address, "ipv6", range);
  const [translated, bits] = translated6;
  if (within(translated6))
    return ranges4.find(([start, length, what]) => within([translated + start, bits + length, what]))?.[2];
  if (within(global6)) return ranges6.find(within)?.[2];
  return local6.find(within)?.[2] ?? "a reserved address";
}

/** One list for each question: a list that holds both families finds an old address in ranges of new ones. */
function isWithin(address: string, family: "ipv4" | "ipv6", [start, length]: Range): boolean {
  const list = new BlockList();
  list.addSubnet(start, length, family);
  return list.check(address, family);
}
