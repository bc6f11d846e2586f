/** `5,012`: a whole number. Like `toLocaleString("en-US")`, but without the 10 to 20 ms of its first call. */
export function numberText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `5,012 chunks`, `1 chunk`. */
export function countText(count: number, noun: string): string {
  return `${numberText(count)} ${count === 1 ? noun : `${noun}s`}`;
}

/** `5,012 chunks, 0 child chunks`. */
export function chunksText({ chunks, child_chunks }: Readonly<Record<"chunks" | "child_chunks", number>>): string {
  return `${countText(chunks, "chunk")}, ${countText(child_chunks, "child chunk")}`;
}

/** `1 document, 5,012 chunks, 0 child chunks`. */
export function rowsText(counts: Readonly<Record<"documents" | "chunks" | "child_chunks", number>>): string {
  return `${countText(counts.documents, "document")}, ${chunksText(counts)}`;
}

/** `1.2 MB`, in powers of 1,000. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** `0.8 s`, `2 min 5 s`, `3 h 12 min`, `4 d 2 h`. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}

/** `12 min`, `5 h`, `3 d`: a rough age, in days from two days on. */
export function ageText(milliseconds: number): string {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** `2026-11-20`, in UTC. */
export function dayText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/T.*/, "");
}

/** `31 %`. Rounds so that only zero shows as 0 % and only the whole shows as 100 %. */
export function shareText(part: number, whole: number): string {
  if (part <= 0 || whole <= 0) return "0 %";
  const percent = (100 * part) / whole;
  if (percent < 1) return "<1 %";
  if (percent > 99 && part < whole) return ">99 %";
  return `${Math.round(percent)} %`;
}

/** Says how many of the lost rows without manual edits were replaced by an edited text; empty for 0. */
export function replacedText(count: number): string {
  if (count === 0) return "";
  return `In place of ${numberText(count)} of them, the newer run has a text that a person edited or a restore brought back.`;
}

/** `8 rows lost, 6 of them with manual edits`: used wherever losses are counted. Rows are chunks and child chunks. */
export function lostText(lost: number, manualEdits: number): string {
  if (lost === 0) return "nothing lost";
  const rows = countText(lost, "row");
  if (manualEdits === 0) return `${rows} lost, ${lost === 1 ? "without" : "none of them with"} manual edits`;
  if (manualEdits === lost) return `${rows} lost, ${lost === 1 ? "" : "all "}with manual edits`;
  return `${rows} lost, ${numberText(manualEdits)} of them with manual edits`;
}
