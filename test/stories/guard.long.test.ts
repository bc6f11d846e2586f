import { expect, test } from "vitest";
import { guarded } from "../commands/guarded.js";
import { keys, openKbdump } from "../pseudo-terminal.js";

test("the owner guards a document from start to proof with one yes, at 80 columns", async () => {
  const { command, env, contents, reindex } = await guarded();
  const worked = contents();
  const guard = openKbdump(command, { columns: 80, rows: 100, env });
  await guard.shows("start the re-index now");
  await guard.shows("waiting for the re-index");
  reindex();
  await guard.shows("Send 2 write requests or more");
  const lost = contents();
  expect(lost).not.toEqual(worked);
  guard.type(`${keys.down}${keys.enter}`);
  expect(await guard.ended, guard.text()).toBe(0);
  expect(guard.text()).toContain("restored: 2 of 2; proved");
  expect(contents()).toEqual(worked);
  expect(guard.broken().filter((line) => !line.includes("kb-guard"))).toEqual([]); // paths cannot be wrapped
}, 60_000);
