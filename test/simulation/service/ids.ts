/** The id of the document with this index in the job. */
export function documentId(index: number): string {
  return `00000000-0000-4000-8000-${String(index + 1).padStart(12, "0")}`;
}
