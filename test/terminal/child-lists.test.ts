import { expect, test } from "vitest";
import { renderChildLists } from "../../src/terminal/child-lists.js";

const none = { asked: 0, embedded: 0, skipped: 0, empty: 0, auto_saves: 0, auto_misses: 0 };

test.each([
  ["all", none, undefined],
  ["none", none, undefined],
  [
    "all",
    { ...none, asked: 5_027, empty: 3_921, auto_saves: 3_847 },
    "3,921 of 5,027 child lists were empty; child_chunks: auto would have saved at least 3,847 requests",
  ],
  [
    "all",
    { ...none, asked: 100, empty: 99, auto_saves: 95, auto_misses: 1 },
    "99 of 100 child lists were empty; child_chunks: auto would have saved at least 95 requests, and missed 1 child chunk",
  ],
  [
    "all",
    { ...none, asked: 1, empty: 1 },
    "1 of 1 child list was empty; child_chunks: auto would have read all of them, too",
  ],
  [
    "auto",
    { ...none, asked: 1_180, embedded: 983, skipped: 2_864, empty: 1_077 },
    "1,180 child lists read, embedded children used for 983 chunks, 2,864 lists skipped; child_lists in manifest.json says why",
  ],
  ["auto", { ...none, asked: 12 }, "12 child lists read; child_lists in manifest.json says why"],
])("%s: %j", (childChunks, sums, line) => {
  expect(renderChildLists(childChunks, sums)).toBe(line);
});
