/** Quotes an argument for a POSIX shell. */
export function shellText(argument: string): string {
  if (/^[\w./@%+=:,-]+$/.test(argument)) return argument;
  if (/["$`\\!]/.test(argument) && !argument.includes("'")) return `'${argument}'`;
  return `"${argument.replace(/(["$`\\])/g, "\\$1")}"`;
}

/** The command that started the program, and its arguments. */
export interface Invocation {
  readonly program: string;
  readonly args: readonly string[];
}

/** The command line of an invocation, with more arguments appended. */
export function commandText({ program, args }: Invocation, more: readonly string[] = []): string {
  return [program, ...[...args, ...more].map(shellText)].join(" ");
}

/** The invocation without these switches. */
export function withoutSwitches({ program, args }: Invocation, names: readonly string[]): Invocation {
  const dropped = new RegExp(`^--(no-)?(${names.join("|")})(=.*)?$`);
  return { program, args: args.filter((argument) => !dropped.test(argument)) };
}

/** The invocation without an option, in both spellings. If `value` is given, drops the option only where it has this value. */
export function withoutOption({ program, args }: Invocation, name: string, value?: string): Invocation {
  const flag = `--${name}`;
  const isDropped = (given: string | undefined) => value === undefined || given === value;
  const kept = args.filter((argument, at) => {
    if (argument === flag) return !isDropped(args[at + 1]);
    if (args[at - 1] === flag) return !isDropped(argument);
    return !argument.startsWith(`${flag}=`) || !isDropped(argument.slice(flag.length + 1));
  });
  return { program, args: kept };
}

/** Derives the command that reads failed documents again from the command of the failed run. */
export function retryCommand(invocation: Invocation): string {
  return commandText(withoutSwitches(invocation, ["fresh", "retry-failed"]), ["--retry-failed"]);
}
