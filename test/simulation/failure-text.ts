import type { Played } from "./play.js";

/** Complaints and lines that are shown of one failing seed. */
const complaints = 5;
const lines = 100;

/** Describes a seed that failed: the command that replays it, what was wrong, and how it came to that. */
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

/** Lines of the document that the first complaint is about, and those of no document at all. */
function isAbout(line: string, document: string | undefined): boolean {
  return document === undefined || line.includes(document) || !line.includes("document ");
}
