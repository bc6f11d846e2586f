/** The problems of a case below its name; empty without problems. */
export function failureText(name: string, problems: readonly string[]): readonly string[] {
  return problems.length === 0 ? [] : [[name, ...problems].join("\n  ")];
}
