/** A link to a file of the service and its query: `/files/<id>/file-preview?timestamp=…`, wherever it stands in a text. */
const fileLink = /(\/files\/[^\s?#"'<>()[\]\\]+)\?([^\s#"'<>()[\]\\]*)/g;
const signature = /^(?:timestamp|nonce|sign)=/;

/** The text with `timestamp`, `nonce` and `sign` taken out of links to files; other parameters stay as they are. */
export function withoutSignatures(text: string): string {
  if (!text.includes("/files/")) return text;
  return text.replace(fileLink, (link, path: string, query: string) => {
    const parameters = query.split(/(&amp;|&)/); // values at even places, separators between
    if (!parameters.some((parameter) => signature.test(parameter))) return link;
    const kept: string[] = [];
    for (let at = 0; at < parameters.length; at += 2) {
      const parameter = parameters[at] ?? "";
      if (signature.test(parameter)) continue;
      if (kept.length > 0) kept.push(parameters[at - 1] ?? "&");
      kept.push(parameter);
    }
    return kept.length > 0 ? `${path}?${kept.join("")}` : path;
  });
}

/** The same for every string in a JSON value. */
export function withoutSignaturesIn(value: unknown): unknown {
  if (typeof value === "string") return withoutSignatures(value);
  if (Array.isArray(value)) return value.map(withoutSignaturesIn);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutSignaturesIn(item)]));
}
