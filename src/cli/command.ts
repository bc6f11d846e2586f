import type { GenericSchema } from "valibot";
import type { InferredOptionType } from "yargs";
import type { InterruptedError, Problem } from "../errors.js";
import type { CommitState } from "../job/open-service.js";
import type { Invocation } from "../shell-text.js";
import type { Copies } from "../store/bucket/copies.js";
import type { BucketNames } from "./bucket-names.js";
import type { Terminal } from "./dialogue.js";
import type { Output, View } from "./progress-view.js";
import type { Page } from "./text.js";

/** The kind of files that a shell suggests. */
export type Files = "file" | "folder" | "job file";

/** Turns the text of an argument into its value, or returns a problem with it. `path`: the name of the argument, for the problem. */
type Read = (given: string, path: string, env: NodeJS.ProcessEnv) => unknown;

/** The headings of the help, in order. */
export const groups = ["Options", "Without a job file", "Advanced", "Every command"] as const;
type Group = (typeof groups)[number];

/** A positional argument, as yargs declares it. */
export interface Positional extends Pick<Option, "describe" | "array" | "demandOption" | "read" | "names" | "values"> {
  readonly type: "string";
  readonly default?: string;
}

/** An option, as yargs declares it. Without a type or `read` it arrives as the given text, and the command checks it. */
export interface Option {
  readonly type?: "boolean" | "string";
  readonly array?: boolean;
  readonly alias?: string | readonly string[];
  readonly choices?: readonly string[];
  readonly demandOption?: boolean;
  /** Another option that cannot be combined with this one. */
  readonly conflicts?: string;
  /** Another option without which this one means nothing. */
  readonly needs?: string;
  readonly default?: string | boolean;
  /** Converts the given text, or the default, to the value. Without it, the value is the text. */
  readonly read?: Read;
  /** The help text: first what the option means, then a semicolon and the details. */
  readonly describe: string;
  /** The kind of files that a shell suggests as the value. */
  readonly names?: Files;
  /** The values that the shell suggests. Unlike with `choices`, others are refused later, for example by the check of the job. */
  readonly values?: readonly string[];
  /** The value as shown in the help: `DIR` in `--out DIR`. Every option except switches has this or `choices`. */
  readonly value?: string;
  /** The heading in the help; default: `Options`. */
  readonly group?: Group;
  /** The value is optional, so it must be given after `=`. */
  readonly valueIsOptional?: true;
}

export type Positionals = Readonly<Record<string, Positional>>;
/** Options by name. */
export type Options = Readonly<Record<string, Option>>;

type CamelCase<Name> = Name extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

/** The arguments for a declaration of positionals or options. `--base-url` arrives as `baseUrl`. */
export type ArgumentsOf<Declared extends Options> = {
  readonly [Name in keyof Declared as string extends Name ? never : CamelCase<Name>]: ValueOf<Declared[Name]>;
};

type ValueOf<Declared extends Option> = Declared extends { readonly read: (...given: never[]) => infer Value }
  ?
      | Exclude<Awaited<Value>, Problem>
      | (Declared extends { readonly default: string } | { readonly demandOption: true } ? never : undefined)
  : InferredOptionType<Declared>;

/** Options of all commands. */
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
    describe:
      "add the NAME=value lines of this file to the environment; variables already set take precedence; repeatable",
  },
  "ca-file": {
    type: "string",
    names: "file",
    value: "FILE",
    group: "Every command",
    describe: "PEM file of a certificate authority to trust in addition to the usual ones",
  },
} as const satisfies Options;

/** The arguments of all commands. */
export type CommonArguments = ArgumentsOf<typeof commonOptions>;

/** The arguments of a command that declares these positionals and options. */
export type Arguments<Declared extends Options> = ArgumentsOf<Declared> & CommonArguments;

export interface Command<
  P extends Positionals = Positionals,
  O extends Options = Options,
  Given = ArgumentsOf<P> & ArgumentsOf<O>,
> {
  /** The command's name and its positionals, in yargs syntax: `run [job]`. */
  readonly name: string;
  readonly about: string;
  readonly positionals: P;
  readonly options: O;
  /** Ends the help: examples and exit codes. Each paragraph is one line, because yargs wraps it. */
  readonly epilog: string;
  /** The schemas of the command's `--json` output and related files, by file name in dist/schemas. */
  readonly results: () => Readonly<Record<string, GenericSchema>>;
  /** Finds the problems of the arguments with each other. An argument that cannot be read is undefined here. */
  check?(args: Given, surroundings: Surroundings): readonly Problem[] | Promise<readonly Problem[]>;
  /**
   * Runs the command and returns the exit code, or rejects with an error of errors.ts. It is a method because method parameters
   * are bivariant, so that a list can hold commands with different arguments.
   */
  run(args: Given, environment: Environment): Promise<number>;
}

/** Defines a command. Infers the arguments of `run` from the declared positionals and options, and adds the common ones. */
export function defineCommand<const P extends Positionals, const O extends Options>(
  command: Command<P, O, ArgumentsOf<P> & Arguments<O>>,
): Command<P, O> {
  return command;
}

/** The description of an option, with the option that it needs. */
export function descriptionOf({ describe, needs }: Option): string {
  return needs === undefined ? describe : `with --${needs}: ${describe}`;
}

/** The short meaning of an argument: its description without the details. */
export function meaningOf(declared: Option): string {
  return descriptionOf(declared).split(";")[0] ?? "";
}

/** The process that runs a command: its streams, variables and signals. main.ts makes it from the real process, tests make their own. */
export interface Surroundings {
  /** The command that starts the program again, such as `kbdump`. It depends on the current folder. */
  readonly program: () => string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Opens stdin; absent if it cannot be read. */
  readonly openStdin?: () => AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean };
  /** Opens the terminal for questions; absent if stdin or stderr is not a terminal. */
  readonly openTerminal?: (() => Terminal) | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted with an InterruptedError by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Stops the command with this error, as a signal would. */
  readonly interrupt: (error: InterruptedError) => void;
  /** Called before and after a run is published, so that a signal that ends the program at once can report whether it was. */
  readonly committing: (state: CommitState) => void;
}

/** The process as a command sees it, with the common options applied. */
export interface Environment extends Surroundings {
  /** The command line as it was typed. */
  readonly invocation: () => Invocation;
  /** The command's local copies of files in buckets. They are removed when the command ends. */
  readonly copies: Copies;
  /** Replaces the paths of these copies with their bucket addresses, which users know. */
  readonly names: BucketNames;
  /** Shows progress and messages on stderr. */
  readonly view: View;
  /**
   * Prints the result: as JSON with `--json`, otherwise as text. Rejects with StopError if stdout fails; `achieved` then says what was
   * done anyway, such as `the run is published in …`.
   */
  readonly print: (result: unknown, render: (page: Page) => string, achieved?: string) => Promise<void>;
}
