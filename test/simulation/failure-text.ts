import type { Played } from "./play.js";

/** Maximum complaints, and maximum lines of the trace, to show for a failing seed. */
const complaints = 5;
const lines = 100;

/** Describes a failed seed: the command that replays it, the complaints, and the trace. */
export function failureText({ scenario, wrong, trace }: Played): string {
  const replay = `KBDUMP_SEED=${scenario.seed} npx vitest run --config test/vitest.config.ts test/simulation`;
  const about = /^document \d/.exec(wrong[0] ?? "")?.[0];
  const shown = trace.filter((line) => !line.includes(" disk: ") && isAbout(line, about));
  const left = shown.length - lines;
  return [
    `seed ${scenario.seed}: ${wrong.length} broken ${wrong.length === 1 ? "promise" : "promises"}`,
    ...wrong.slice(0, complaints).map((text) => `  ${text}`),
    `replay: ${replay}`,
    `scenario: ${JSON.stringify(scenario)}`,
    ...(left > 0 ? [`… ${left} lines before; KBDUMP_TRACE=1 prints all`] : []),
    ...shown.slice(-lines),
  ].join("\n");
}

/** Whether a line concerns this document, or no particular document. */
function isAbout(line: string, document: string | undefined): boolean {
  return document === undefined || line.includes(document) || !line.includes("document ");
}
