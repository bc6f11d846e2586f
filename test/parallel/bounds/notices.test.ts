import { expect, test } from "vitest";
import { Notices } from "../../../src/parallel/bounds/member.js";

const quiet =
  "info no requests for up to 5 s: the broker redis://h is new, was out of reach or has lost its data, so requests from before may still be under way";

test("whoever waits for a request hears once for each quarantine why, and nobody else does", () => {
  const said: string[] = [];
  const notices = new Notices({ broker: "redis://h", say: (text, level) => said.push(`${level} ${text}`) });
  notices.quarantine(true, false);
  expect(said).toEqual([]);
  for (let look = 0; look < 3; look++) notices.quarantine(true, true);
  expect(said).toEqual([quiet]);
  notices.quarantine(false, true);
  notices.quarantine(true, true);
  expect(said).toEqual([quiet, quiet]);
});

test("a broker that is gone is a warning, and its return is none", () => {
  const said: string[] = [];
  const notices = new Notices({ broker: "redis://h", say: (_text, level) => said.push(level) });
  for (const isGone of [false, true, true, false]) notices.absence(isGone);
  expect(said).toEqual(["warn", "info"]);
});
