/** What was wrong in a case, below its name; nothing where nothing was. */
export function failureText(name: string, problems: readonly string[]): readonly string[] {
  return problems.length === 0 ? [] : [[name, ...problems].join("\n  ")];
}
