import { expect, test } from "vitest";
import { outputFlags } from "../../src/cli/output.js";

test.each([
  ["run job.yaml", false, "text"],
  ["run job.yaml --json", true, "text"],
  ["run --json=true job.yaml", true, "text"],
  ["run --json true job.yaml", true, "text"],
  ["run job.yaml --json=false", false, "text"],
  ["run job.yaml --no-json", false, "text"],
  ["run job.yaml --json --no-json", false, "text"],
  ["run job.yaml --log-format json", false, "json"],
  ["run job.yaml --log-format=json", false, "json"],
  ["run job.yaml -q --log-format=json", false, "json"],
  ["run job.yaml --log-format json --log-format=text", false, "text"],
  ["run job.yaml --log-format", false, "text"],
  ["run -- --json --log-format=json", false, "text"],
  ["", false, "text"],
])("kbdump %s: json %s, log %s", (line, json, logFormat) => {
  expect(outputFlags(line.split(" "))).toEqual({ json, logFormat });
});
