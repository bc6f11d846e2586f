// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests need ${NAME} in plain strings
import { expect, test } from "vitest";
import { gotText } from "../../src/job/got-text.js";

const key = `dataset-${"aB3".repeat(8)}`;
const hidden = "a value that is not shown";

test.each([
  [undefined, "nothing"],
  [null, "null"],
  [8, "8"],
  [Number.NaN, "NaN"],
  [false, "false"],
  ["text", '"text"'],
  ["${A}", '"${A}" (filled in from the environment)'],
  ["$${A}", '"$${A}"'],
  [[], "[]"],
  [["tell-nobody"], "a list"],
  [{}, "{}"],
  [{ api_key: "tell-nobody" }, "a mapping"],
  [key, hidden],
  [`Bearer ${key}`, hidden],
  [`${key}\${A}`, hidden],
])("%j is shown as %s", (value, text) => {
  expect(gotText(value, ["name"])).toBe(text);
});

test.each([
  ["api_key_env", "tell-nobody", hidden],
  ["api_key_env", 12345678, hidden],
  ["api_key_env", "tell-nobody${A}", hidden],
  ["api_key_env", "${A}", '"${A}" (filled in from the environment)'],
  ["api_key_file", "tell-nobody", hidden],
  ["base_url", "https://u:tell-nobody@${HOST}/v1", hidden],
  ["base_url", "https://${HOST}", '"https://${HOST}" (filled in from the environment)'],
])("%s: %s is shown as %s", (name, value, text) => {
  expect(gotText(value, ["service", name])).toBe(text);
});

test.each([
  ["https://hc-ping.com/uuid", hidden],
  ["ftp://x", hidden],
  ["https://hc-ping.com/${A}", hidden],
  ["${A}", '"${A}" (filled in from the environment)'],
])("whom to tell, %s, is shown as %s", (value, text) => {
  expect(gotText(value, ["notify", "url"])).toBe(text);
  expect(gotText(value, ["notify"])).toBe(text);
});
