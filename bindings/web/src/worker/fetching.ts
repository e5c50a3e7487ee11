/** Fetching a file, also the rest of a partial download. */
import type { Fetching } from "./cache.js";
import { status, StatusError } from "./status.js";

/** The number of retries of a broken connection, if it delivered any bytes. */
const RETRIES = 3;

/** The description of a file on a server. */
export interface Kept {
  /** A strong ETag or a date; "" if the server sends none. */
  validator: string;
  /** The size of the file in bytes; 0: unknown. */
  total: number;
}

/** The destination of bytes. */
export interface Sink {
  /** Returns what is stored already. */
  kept(): Kept & { bytes: number };
  /** Announces the bytes from `at` on of the file `kept`; at 0, it starts again. */
  begin(at: number, kept: Kept): Promise<void>;
  write(bytes: Uint8Array<ArrayBuffer>, at: number): void;
}

/** Returns the value of If-Range; a weak ETag cannot be used (RFC 9110, 13.1.5). */
function validatorOf({ headers }: Response): string {
  // Ranges would count compressed bytes.
  if (headers.get("content-encoding")) return "";
  const etag = headers.get("etag") ?? "";
  if (etag !== "" && !etag.startsWith("W/")) return etag;
  return headers.get("last-modified") ?? "";
}

/** Returns the size; 0 if it is unknown, or the transfer is compressed. */
function totalOf(response: Response, from: number): number {
  const range = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
  if (range !== null) return Number(range[1]);
  if (response.headers.get("content-encoding")) return 0;
  return from + Number(response.headers.get("content-length") ?? -from);
}

async function asked(
  url: string,
  from: number,
  validator: string,
  signal: AbortSignal,
): Promise<Response> {
  const headers: Record<string, string> =
    from > 0 ? { range: `bytes=${from}-`, "if-range": validator } : {};
  let response;
  try {
    response = await fetch(url, { headers, signal });
  } catch (error) {
    signal.throwIfAborted();
    const what = `${url} cannot be fetched: ${String(error)}; `;
    throw new StatusError(
      status.IO,
      from > 0
        ? `${what}${from} bytes are stored, and loading it again goes on from there`
        : `${what}is the network available, and does the server allow this page ` +
          "(CORS, and where the page is isolated Cross-Origin-Resource-Policy)?",
    );
  }
  if (response.ok) return response;
  throw new StatusError(
    response.status === 404 || response.status === 410
      ? status.NOT_FOUND
      : status.IO,
    `${url}: the server answers ${response.status} ${response.statusText}`,
  );
}

/** Fetches the missing part; returns the size of the file. */
export async function fetchInto(
  url: string,
  sink: Sink,
  { signal, progress }: Fetching,
): Promise<number> {
  let { bytes: at, validator, total } = sink.kept();
  if (at > 0 && at === total) {
    await sink.begin(at, { validator, total });
    progress(at, total);
    return total;
  }
  for (let left = RETRIES; ; --left) {
    const response = await asked(url, at, validator, signal);
    // The server has another file, or does not support ranges: it sends all of it.
    if (response.status !== 206) at = 0;
    validator = validatorOf(response);
    total = totalOf(response, at);
    await sink.begin(at, { validator, total });
    const began = at;
    try {
      const reader = response.body!.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        sink.write(value, at);
        at += value.length;
        progress(at, total);
      }
    } catch (error) {
      signal.throwIfAborted();
      const broke = error instanceof TypeError;
      if (!broke) throw error;
      if (left > 0 && at > began && validator !== "") continue;
      throw new StatusError(
        status.IO,
        `${url} broke off after ${at} of ${total || "?"} bytes; loading it again ` +
          "goes on from there",
      );
    }
    if (total === 0 || at === total) return at;
    if (left > 0 && at > began && at < total && validator !== "") continue;
    throw new StatusError(
      status.IO,
      `${url} ended after ${at} of ${total} bytes; loading it again goes on from ` +
        "there",
    );
  }
}
