import { expect, test } from "vitest";
import { unknownKeyText } from "../../../src/job/schema/shapes.js";

const known = ["base_url", "api_key_env", "api_key_file", "timeout", "keep"];
const all = "unknown key; expected one of base_url, api_key_env, api_key_file, timeout, keep";
const secret = "the key itself is never in the file: use api_key_env, api_key_file or api_key_command";

test.each([
  ["baseUrl", "unknown key; did you mean base_url?"],
  ["base-urls", "unknown key; did you mean base_url?"],
  ["APIKEYENV", "unknown key; did you mean api_key_env?"],
  ["api_keyfile", "unknown key; did you mean api_key_file?"],
  ["timeouts", "unknown key; did you mean timeout?"],
  ["kep", "unknown key; did you mean keep?"],
  ["retries", all],
  ["", all],
  ["x".repeat(1_000_000), all],
  ["key", secret],
  ["API-Key", secret],
  ["accessToken", secret],
  ["Authorization", secret],
])("%.20s", (key, text) => {
  expect(unknownKeyText(key, known)).toBe(text);
});
