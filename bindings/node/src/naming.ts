/** Names of errors, in Node's conventions. */
import { getSystemErrorMap } from "node:util";
import { native } from "./native";

/** Members of errors that the web package does not have. */
export interface OwnMembers {
  /** The number of a system error, as in Node's own errors: -2 for ENOENT. */
  readonly errno?: number;
}

export const ownMembers = (number: number): object =>
  number === 0 ? {} : { errno: -number };

/** The name of a status, such as "NOT_FOUND". */
export const statusName = (status: number): string =>
  native.status_name(status).replace(/^RC_E_/, "");

/** The code of a system error. */
export const systemCode = (number: number): string | undefined =>
  getSystemErrorMap().get(-number)?.[0];

export const nameOf = (kind: Function): string => kind.name;

/** Returns a message of the library; the module has renamed its options already. */
export const ownWords = (message: string): string => message;
