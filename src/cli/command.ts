import type { GenericSchema } from "valibot";
import type { InferredOptionType } from "yargs";
import type { InterruptedError } from "../errors.js";
import type { CommitState } from "../job/open-service.js";
import type { Terminal } from "./dialogue.js";
import type { Output } from "./view.js";

/** The files that a shell proposes. */
export type Files = "file" | "folder" | "job file";

/** A heading of the help, in the order in which they stand there. */
export const groups = ["Options", "Without a job file", "Advanced", "Every command"] as const;
type Group = (typeof groups)[number];

/** A positional argument, as yargs declares it. */
export interface Positional {
  readonly describe: string;
  readonly type: "string";
  readonly array?: boolean;
  readonly default?: string;
  readonly demandOption?: boolean;
  /** The files that a shell completes it with. */
  readonly names?: Files;
  /** The values to choose from. */
  readonly values?: readonly string[];
}

/** An option, as yargs declares it. One without a type arrives as the text that was given: the command checks it. */
export interface Option {
  readonly type?: "boolean" | "string";
  readonly array?: boolean;
  readonly alias?: string | readonly string[];
  readonly choices?: readonly string[];
  readonly demandOption?: boolean;
  /** Another option that cannot be given beside it. */
  readonly conflicts?: string;
  readonly default?: string | boolean;
  /** Begins with the meaning; details follow behind a semicolon. */
  readonly describe: string;
  /** The files that a shell completes it with. */
  readonly names?: Files;
  /** The values to choose from where the check of the job, not of the command line, judges them. */
  readonly values?: readonly string[];
  /** The value as the help shows it: `DIR` in `--out DIR`. Every option but a switch has one, or `choices`. */
  readonly value?: string;
  /** The heading that the help lists it under; `Options` where it has none. */
  readonly group?: Group;
  /** Its value may be left out, so that one must stand behind `=`. */
  readonly valueIsOptional?: true;
}

/** Positionals by name. */
export type Positionals = Readonly<Record<string, Positional>>;
/** Options by name. */
export type Options = Readonly<Record<string, Option>>;

type CamelCase<Name> = Name extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

/**
 * The arguments that a declaration of positionals or options stands for; `--base-url` arrives as `baseUrl`. Nothing is known of
 * those of any command.
 */
export type ArgumentsOf<Declared extends Options> = {
  readonly [Name in keyof Declared as string extends Name ? never : CamelCase<Name>]: InferredOptionType<
    Declared[Name]
  >;
};

/** Options of every command. */
export const commonOptions = {
  json: {
    type: "boolean",
    default: false,
    group: "Every command",
    describe: "print the result as one JSON object, the last line of stdout",
  },
  quiet: {
    type: "boolean",
    default: false,
    alias: "q",
    group: "Every command",
    describe: "print only errors to stderr: no progress, no warnings",
  },
  "log-format": {
    choices: ["text", "json"],
    default: "text",
    group: "Every command",
    describe: "format of progress and warnings on stderr; default: text",
  },
  "env-file": {
    type: "string",
    array: true,
    names: "file",
    value: "FILE",
    group: "Every command",
    describe: "add the NAME=value lines of this file to the environment; variables already set win; repeatable",
  },
  "ca-file": {
    type: "string",
    names: "file",
    value: "FILE",
    group: "Every command",
    describe: "PEM file of a certificate authority to trust besides the usual ones",
  },
} as const satisfies Options;

/** The arguments that every command has. */
export type CommonArguments = ArgumentsOf<typeof commonOptions>;

/** The arguments of a command that declares these positionals and options. */
export type Arguments<Declared extends Options> = ArgumentsOf<Declared> & CommonArguments;

/** One command of the program. */
export interface Command<
  P extends Positionals = Positionals,
  O extends Options = Options,
  Given = ArgumentsOf<P> & ArgumentsOf<O>,
> {
  /** With its positionals, as yargs writes them: `run [job]`. */
  readonly name: string;
  readonly about: string;
  readonly positionals: P;
  readonly options: O;
  /** Ends the help: examples and exit codes. Each paragraph is one line, because yargs wraps it. */
  readonly epilog: string;
  /** The schemas of what `--json` prints, by the names of their files in dist/schemas: that of the command, and others beside it. */
  readonly results: () => Readonly<Record<string, GenericSchema>>;
  /**
   * Does the work and gives the exit code, or rejects with one of the errors of errors.ts. It is a method because
   * parameters of methods are bivariant: a list can hold commands of different arguments.
   */
  run(args: Given, environment: Environment): Promise<number>;
}

/** Infers the arguments of `run` from the declared positionals and options, and adds those of every command. */
export function defineCommand<const P extends Positionals, const O extends Options>(
  command: Command<P, O, ArgumentsOf<P> & Arguments<O>>,
): Command<P, O> {
  return command;
}

/** The meaning of an argument in short: its description without the details. */
export function meaningOf({ describe }: Positional | Option): string {
  return describe.split(";")[0] ?? "";
}

/** The process as the commands see it; only main.ts knows the real one. */
export interface Environment {
  /** The words that start the program once more, such as `kbdump`; they depend on the current folder. */
  readonly program: () => string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Opens stdin; absent: nothing can be read from it. */
  readonly openStdin?: () => AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean };
  /** Opens the terminal for questions; absent where stdin or stderr is none. */
  readonly openTerminal?: (() => Terminal) | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** The command line, after the name of the program. */
  readonly args: readonly string[];
  /** Loads all commands, for a command that describes them. */
  readonly commands: () => Promise<readonly Command[]>;
  /** Aborted with an InterruptedError by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Ends the command as a signal does. */
  readonly interrupt: (error: InterruptedError) => void;
  /** How far the publication is: a signal that ends the program at once must not tell otherwise. */
  readonly committing: (state: CommitState) => void;
}
