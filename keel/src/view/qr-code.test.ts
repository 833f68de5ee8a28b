import { expect, test } from "vitest";
import { correctionOf, qrCode } from "./qr-code.ts";

const drawn = (text: string): string =>
  (qrCode(text) ?? []).map((row) => row.map((isDark) => (isDark ? "#" : ".")).join("")).join("\n");

// The worked example of many textbooks: the data of "HELLO WORLD" in the smallest size.
test("bytes that correct are those of the standard's example", () => {
  const data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
  expect(correctionOf(data, 10)).toEqual([196, 35, 39, 119, 235, 215, 231, 226, 93, 23]);
});

// Read back by another program's decoder when it was written, as was every length from 1 to 213 bytes.
test("an address is drawn as a scanner reads it", () => {
  expect(drawn("https://keel.example/pair#K7QF2MPX")).toMatchInlineSnapshot(`
    "#######....#####..###.#######
    #.....#...#######.#...#.....#
    #.###.#.#..#.#.#......#.###.#
    #.###.#.##....##.#..#.#.###.#
    #.###.#.#.###..######.#.###.#
    #.....#.#####.....#.#.#.....#
    #######.#.#.#.#.#.#.#.#######
    ........##..#.#.#..##........
    #.#####..###.....#.#..#####..
    .....#..##.#####...#.##.#...#
    ..#...#.#..#####.##.#.#.#....
    #.####...###.#.#..#.####.#.#.
    #...#.#..#.##.#.###......##..
    .###.#.####....##.#######...#
    ..##..#...##...#.##....####..
    ..####.....##.##....#..##..#.
    #..#..###..##..##..#.....##..
    #.###...##.#.########.###.#.#
    #.#..##..##..######..####.#..
    #..###.#####.#.##....#.##..#.
    #.##..###...#.#..##.#####.###
    ........###.#..##..##...#####
    #######..#.....#.#.##.#.###..
    #.....#.##.#..#....##...#..##
    #.###.#.##..#..##...#####.##.
    #.###.#.#####.#....#.....####
    #.###.#.##.##..#..##########.
    #.....#...##.#..#...##.#.#.#.
    #######.#...####...#......#.."
  `);
});

test("takes the smallest size that holds the text, and none for one that is too long", () => {
  const widths = [1, 14, 15, 26, 27, 213].map((length) => qrCode("x".repeat(length))?.length);
  expect(widths).toEqual([21, 21, 25, 25, 29, 57]);
  expect(qrCode("x".repeat(214))).toBeUndefined();
  // Counted in bytes.
  expect(qrCode("é".repeat(14))?.length).toBe(29);
});
