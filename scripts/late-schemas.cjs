// Stands for `zod/mini` in the bundle of the command: a schema is written down as what would make it, and is made when it
// is first asked for something. Only `zod/mini` as Keel uses it: functions that are given schemas, texts and functions.
// One that stands alone in a file is not even written down before it is asked for (`wholeLater`).
"use strict";

let loaded;
const library = () => {
  loaded ??= require("./schemas.cjs");
  return loaded;
};

/** Light, since a start makes a thousand of them and uses none. */
class Later {
  #name;
  #given;
  #schema;

  constructor(name, given) {
    this.#name = name;
    this.#given = given;
  }

  static real(later) {
    later.#schema ??= later.#make();
    return later.#schema;
  }

  parse(value) {
    return Later.real(this).parse(value);
  }

  safeParse(value) {
    return Later.real(this).safeParse(value);
  }

  check(...checks) {
    return new Later("check", [this, checks]);
  }

  /** Of an object its members are known without making it. Those of a part of it are others, but have the same names. */
  get shape() {
    const [first] = this.#given;
    if (/^(object|looseObject|strictObject)$/.test(this.#name)) return first;
    if (this.#name !== "partial") return Later.real(this).shape;
    return Object.fromEntries(Object.keys(first.shape).map((key) => [key, new Later("member", [this, key])]));
  }

  get options() {
    return Later.real(this).options;
  }

  get _zod() {
    return Later.real(this)._zod;
  }

  get "~standard"() {
    return Later.real(this)["~standard"];
  }

  #make() {
    const [first, second] = this.#given;
    if (this.#name === "check") return Later.real(first).check(...second.map(real));
    if (this.#name === "member") return Later.real(first).shape[second];
    return library()[this.#name](...this.#given.map(real));
  }
}

/** A whole declaration, as a function that writes it down. */
class WholeLater {
  #write;
  #written;

  constructor(write) {
    this.#write = write;
  }

  static written(later) {
    later.#written ??= later.#write();
    return later.#written;
  }

  parse(value) {
    return WholeLater.written(this).parse(value);
  }

  safeParse(value) {
    return WholeLater.written(this).safeParse(value);
  }

  check(...checks) {
    return new WholeLater(() => WholeLater.written(this).check(...checks));
  }

  get shape() {
    return WholeLater.written(this).shape;
  }

  get options() {
    return WholeLater.written(this).options;
  }

  get _zod() {
    return WholeLater.written(this)._zod;
  }

  get "~standard"() {
    return WholeLater.written(this)["~standard"];
  }
}

/** What the library itself must see. */
function real(value) {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Later) return Later.real(value);
  if (value instanceof WholeLater) return real(WholeLater.written(value));
  if (Array.isArray(value)) return value.map(real);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, real(inner)]));
}

const standFor = (name) =>
  // The one that gives no schema.
  name === "toJSONSchema"
    ? (...given) => library()[name](...given.map(real))
    : (...given) => new Later(name, given);

const wholeLater = (write) => new WholeLater(write);

module.exports = { standFor, wholeLater };
