import { expect, test } from "vitest";
import { judgeOriginal } from "../../src/originals/save-one-file.js";

const broke = "GET https://files.example.com: the connection was closed";

test.each([
  ["as many bytes as the service says", 10, 10, 10, null, "complete", null],
  ["a wrong Content-Length beside the right size", 10, 99, 10, broke, "complete", null],
  ["no size, as many as announced", 10, 10, null, null, "complete", null],
  ["neither size nor length, to its end", 10, null, null, null, "complete", null],
  ["an empty file of 0 bytes", 0, 0, 0, null, "complete", null],
  ["too short", 8, 8, 10, null, "wrong size", "it has 8 bytes, the service says 10"],
  ["too long", 12, 12, 10, null, "wrong size", "it has 12 bytes, the service says 10"],
  ["broken off", 8, 10, 10, broke, "wrong size", `it has 8 bytes, the service says 10: ${broke}`],
  ["broken off, of unknown size", 8, null, null, broke, "wrong size", `it has 8 bytes: ${broke}`],
  ["0 kB, and the service says more", 0, 0, 10, null, "missing", "it has 0 bytes, the service says 10"],
  ["nothing, and nothing said", 0, null, null, null, "missing", "it has 0 bytes"],
] as const)("%s", (_, bytes, announced, size, brokeOff, verdict, reason) => {
  expect(judgeOriginal({ bytes, sha256: "", announced, brokeOff }, size)).toEqual({
    verdict,
    reason,
    expected_bytes: size ?? announced,
  });
});
