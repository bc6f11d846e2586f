import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { metricsAfter, parseMetrics, type RunOutcome, renderMetrics, sampleKey } from "../../src/notify/run-metrics.js";
import { outcomeOf } from "./outcome-of.js";
import { readPrometheus } from "./prometheus.js";

const after = (outcome: RunOutcome, before = "") => renderMetrics(metricsAfter(outcome, before));
const figure = (text: string, name: string, labels = "job=nightly") =>
  readPrometheus(text).get(name)?.samples.get(labels);

test("contains every metric, with help and the right type", () => {
  const families = readPrometheus(after(outcomeOf()));
  expect([...families].map(([name, { type }]) => `${type} ${name}`)).toEqual([
    "gauge kbdump_info",
    "gauge kbdump_last_run_timestamp_seconds",
    "gauge kbdump_last_success_timestamp_seconds",
    "gauge kbdump_last_run_status",
    "gauge kbdump_last_run_duration_seconds",
    "gauge kbdump_rows",
    "gauge kbdump_documents",
    "counter kbdump_runs_total",
    "counter kbdump_requests_total",
    "counter kbdump_retries_total",
    "counter kbdump_throttled_requests_total",
    "counter kbdump_received_bytes_total",
  ]);
  for (const { samples } of families.values())
    for (const labels of samples.keys()) expect(labels).toMatch(/^job=nightly/);
  expect(Object.fromEntries(families.get("kbdump_rows")?.samples ?? [])).toMatchObject({
    "job=nightly,kind=chunks": 100,
  });
});

test("a failed run keeps the metrics of the last success and the last dump", () => {
  const good = after(outcomeOf());
  const failed = outcomeOf({
    status: "failed",
    finishedAt: new Date("2026-11-21T02:00:01Z"),
    seconds: 1,
    rows: undefined,
    documents: undefined,
  });
  const bad = after(failed, good);
  expect(figure(bad, "kbdump_last_success_timestamp_seconds")).toBe(Date.parse("2026-11-20T02:05:00Z") / 1000);
  expect(figure(bad, "kbdump_last_run_timestamp_seconds")).toBe(Date.parse("2026-11-21T02:00:01Z") / 1000);
  for (const name of ["kbdump_rows", "kbdump_documents"])
    expect(readPrometheus(bad).get(name)?.samples).toEqual(readPrometheus(good).get(name)?.samples);
  const statuses = ["complete", "partial", "failed", "interrupted"];
  const each = (name: string) => statuses.map((status) => figure(bad, name, `job=nightly,status=${status}`));
  expect(each("kbdump_last_run_status")).toEqual([0, 0, 1, 0]);
  expect(each("kbdump_runs_total")).toEqual([1, 0, 1, 0]);
});

test("counters add up over the runs, also of a reason that was seen once", () => {
  const progress = outcomeOf().requests;
  const second = outcomeOf({ requests: { ...progress, retriedBy: { "503": 1, 'broken "answer"\\\n': 4 } } });
  const text = after(second, after(second, after(outcomeOf())));
  expect(figure(text, "kbdump_requests_total")).toBe(36);
  expect(figure(text, "kbdump_throttled_requests_total")).toBe(3);
  expect(figure(text, "kbdump_received_bytes_total")).toBe(3 * 4567);
  expect(Object.fromEntries(readPrometheus(text).get("kbdump_retries_total")?.samples ?? [])).toEqual({
    "job=nightly,reason=503": 4,
    "job=nightly,reason=timeout": 1,
    "job=nightly,reason=429": 0,
    "job=nightly,reason=connection": 0,
    "job=nightly,reason=broken answer": 0,
    'job=nightly,reason=broken "answer"\\\n': 8,
  });
});

test("a job that was never published has no rows and no success, unless another source knows of one", () => {
  const failed = outcomeOf({ status: "failed", rows: undefined, documents: undefined });
  const names = [...readPrometheus(after(failed)).keys()];
  for (const name of ["kbdump_rows", "kbdump_documents", "kbdump_last_success_timestamp_seconds"])
    expect(names).not.toContain(name);
  expect(
    figure(after(outcomeOf({ status: "partial" }), after(outcomeOf())), "kbdump_last_success_timestamp_seconds"),
  ).toBe(Date.parse("2026-11-20T02:05:00Z") / 1000);
});

test("a damaged file is replaced", () => {
  expect(
    after(
      outcomeOf(),
      '<html>\u0000 kbdump_requests_total{job="nightly"} many\nkbdump_requests_total{job="nightly"} NaN\n',
    ),
  ).toBe(after(outcomeOf()));
});

test("any text in a label can be read back", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'a"\\\n\r\u2028{}=, é😀\0') }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
      (text, value) => {
        const labels = { job: text.toWellFormed(), kind: text.toWellFormed() };
        const written = renderMetrics([
          { name: "kbdump_x", type: "gauge", help: "a\\b\nc", samples: [{ labels, value }] },
        ]);
        expect([...(readPrometheus(written).get("kbdump_x")?.samples ?? [])]).toEqual([
          [`job=${labels.job},kind=${labels.kind}`, value],
        ]);
        expect(parseMetrics(written).get(sampleKey("kbdump_x", labels))).toBe(value);
      },
    ),
  );
});

const promtool = ((): boolean => {
  try {
    execFileSync("promtool", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

test.runIf(promtool)("promtool accepts it, if it is installed", () => {
  expect(execFileSync("promtool", ["check", "metrics"], { input: after(outcomeOf()), encoding: "utf8" })).toBe("");
});
