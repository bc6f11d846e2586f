/** Whether a text holds what looks like a key of the service; such a text is not to be printed, nor taken for a name. */
export function looksLikeKey(text: string): boolean {
  return /\bdataset-[A-Za-z0-9]{16,}/.test(text);
}
