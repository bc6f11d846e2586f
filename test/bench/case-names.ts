import { allFormats, type Case } from "./cases.js";

/** The name of the line that measures how long the program takes to start. */
export const startUpName = "start-up";

/** The short, unique name of a table line. */
export function nameOf(each: Case): string {
  const { dataset, childChunks, latency, inFlight, consistency } = each;
  const parts = [
    `${shortNumber(dataset.documents)}x${shortNumber(dataset.chunks)}`,
    ...(dataset.embedsChildren ? ["hierarchy", childChunks] : dataset.childLists ? ["lists"] : []),
    `${latency}ms`,
    String(inFlight),
    formatsText(each).replace(" ", "+"),
    ...(consistency === "counts" ? [] : [consistency]),
  ];
  return parts.join("-");
}

/** The first cells of a case's line in the table of results: its name and its settings. */
export function cellsOf(each: Case): readonly string[] {
  const { dataset, childChunks, latency, inFlight, consistency } = each;
  return [
    nameOf(each),
    dataset.documents.toLocaleString("en"),
    (dataset.documents * dataset.chunks).toLocaleString("en"),
    childChunks,
    formatsText(each),
    consistency,
    `${latency} ms`,
    String(inFlight),
  ];
}

/** Finds cases: the one with this name, or otherwise all with the text in their name or another cell. */
export function casesNamed(cases: readonly Case[], text: string): readonly Case[] {
  const exact = cases.filter((each) => nameOf(each) === text);
  return exact.length > 0 ? exact : cases.filter((each) => cellsOf(each).some((cell) => cell.includes(text)));
}

/** The formats of a case; `all` for all four. */
function formatsText({ formats }: Case): string {
  return formats.length === allFormats.length ? "all" : formats.join(" ");
}

function shortNumber(value: number): string {
  if (value % 1_000_000 === 0) return `${value / 1_000_000}m`;
  return value % 1_000 === 0 ? `${value / 1_000}k` : String(value);
}
