import { expect, test } from "vitest";
import { programText } from "../../src/cli/cli.js";

test.each([
  ["/usr/local/bin/kbdump", "/home/me", "kbdump"],
  ["/home/me/kbdump/dist/main.js", "/home/me/kbdump", "node dist/main.js"],
  ["/opt/kbdump/dist/main.js", "/home/me", "node /opt/kbdump/dist/main.js"],
  ["/home/me/it's here/dist/main.js", "/home/me", "node 'it'\\''s here/dist/main.js'"],
  [undefined, "/home/me", "kbdump"],
])("%s, started in %s: %s", (script, from, text) => {
  expect(programText(script, from)).toBe(text);
});
