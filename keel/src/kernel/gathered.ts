/**
 * A text that comes in very many small pieces. Added to a string one by one they would all stay alive, and with them
 * what they were cut from, until somebody reads the string: here they are joined every now and then.
 */
export class Gathered {
  #joined: string[] = [];
  #pieces: string[] = [];

  constructor(initial = "") {
    if (initial !== "") this.#joined.push(initial);
  }

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length >= maxPieces) this.#join();
  }

  text(): string {
    this.#join();
    const whole = this.#joined.join("");
    this.#joined = [whole];
    return whole;
  }

  #join(): void {
    this.#joined.push(this.#pieces.join(""));
    this.#pieces = [];
  }
}

const maxPieces = 256;
