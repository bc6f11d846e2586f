import { expect, test } from "vitest";
import { FilterCache } from "../../src/serve/dump-knowledge.js";
import { NumberList } from "../../src/serve/row-file.js";

function listOf(length: number): NumberList {
  const list = new NumberList(4);
  for (let at = 0; at < length; at++) list.push(at * 2);
  return list;
}

test("a list of numbers grows, and gives them back", () => {
  const list = listOf(200_000);
  expect([list.length, list.at(0), list.at(65_535), list.at(65_536), list.at(199_999)]).toEqual([
    200_000, 0, 131_070, 131_072, 399_998,
  ]);
  expect(list.slice(199_998, 300_000)).toEqual([399_996, 399_998]);
  expect(() => list.at(200_000)).toThrow(RangeError);
  const wide = new NumberList(8);
  wide.push(2 ** 40 + 1);
  expect(wide.at(0)).toBe(2 ** 40 + 1);
});

test("a filter is looked for once, however many ask, and again when that failed", async () => {
  const cache = new FilterCache();
  let asked = 0;
  const find = async () => {
    asked++;
    if (asked === 1) throw new Error("no disk");
    return listOf(3);
  };
  await expect(Promise.all([cache.get("a", find), cache.get("a", find)])).rejects.toThrow("no disk");
  const [one, other] = await Promise.all([cache.get("a", find), cache.get("a", find)]);
  expect(one).toBe(other);
  expect(asked).toBe(2);
});

test("the filters that were not asked for the longest are forgotten, so that memory stays bounded", async () => {
  const cache = new FilterCache();
  const large = listOf(3_000_000); // 12 MB
  const asked: string[] = [];
  const get = (name: string) =>
    cache.get(name, async () => {
      asked.push(name);
      return large;
    });
  for (const name of ["a", "b", "c", "d", "e", "a", "f"]) await get(name);
  expect(asked.join("")).toBe("abcdef");
  await get("a");
  await get("b");
  expect(asked.join("")).toBe("abcdefb");
});
