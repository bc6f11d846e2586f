/** The sentence for batches that the job names and of which no reading came. */
export function unreadText(batches: number): string {
  return `No reading came of ${batches === 1 ? "1 batch" : `${batches.toLocaleString("en-US")} batches`} that the job names, so that nothing is known of the indexing of ${batches === 1 ? "its" : "their"} documents.`;
}
