import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openView } from "../../src/cli/progress-view.js";
import { renderWorker } from "../../src/commands/worker.js";
import { emptyRunProgress, readingDocuments, waitingForDocuments } from "../../src/job/run-progress.js";
import { withoutTimes } from "../cli/run-kbdump.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each(["text", "json"] as const)(
  "a worker that waits says so once, and again after it has read something: %s",
  (format) => {
    let written = "";
    const output = { write: (text: string) => (written += text) };
    const progress = { ...emptyRunProgress(), step: waitingForDocuments };
    const stop = openView({ output, env: {}, format, quiet: false }).watch(renderWorker(progress));
    const said = (milliseconds: number) => {
      written = "";
      vi.advanceTimersByTime(milliseconds);
      return withoutTimes(written).split("\n").filter(Boolean);
    };
    expect(said(30_000)).toEqual([expect.stringContaining("waiting for documents")]);
    Object.assign(progress, { step: readingDocuments, documentsDone: 1, chunks: 20 });
    progress.requests.answered = 50;
    const [reading] = said(10_000);
    if (format === "text")
      expect(reading).toBe("reading documents · 1 document · 20 chunks · 0 child chunks · 5 requests/s");
    else expect(reading).toContain('"counts":{"documents":1,"chunks":20,"child_chunks":0,"requests":0,"in_flight":0}');
    progress.step = waitingForDocuments;
    expect(said(20_000)).toEqual([expect.stringContaining("waiting for documents")]);
    stop();
  },
);

test("no line is wider than the terminal", () => {
  const progress = { ...emptyRunProgress(), step: readingDocuments, documentsDone: 1_000_000 };
  const [line = ""] = renderWorker(progress).block(1_000, { columns: 30, rows: 5 } as never);
  expect(line).toHaveLength(29);
});
