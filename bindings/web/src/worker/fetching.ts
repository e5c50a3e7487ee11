/** Fetching a file, from where it was left. */
import type { Fetching } from "./cache.js";
import { status, StatusError } from "./status.js";

/** How often a connection that broke is made again, if anything came of it. */
const RETRIES = 3;

/** What is known of a file on a server. */
export interface Kept {
  /** A strong ETag or a date; "" if the server gives none. */
  validator: string;
  /** Bytes of the whole; 0: not known. */
  total: number;
}

/** Where bytes go. */
export interface Sink {
  /** What is there already. */
  kept(): Kept & { bytes: number };
  /** Those at `at` and behind come next, of a file that is so; at 0, anew. */
  begin(at: number, kept: Kept): Promise<void>;
  write(bytes: Uint8Array<ArrayBuffer>, at: number): void;
}

/** What If-Range takes: a weak ETag says nothing of bytes (RFC 9110, 13.1.5). */
function validatorOf({ headers }: Response): string {
  // Ranges would count what is packed.
  if (headers.get("content-encoding")) return "";
  const etag = headers.get("etag") ?? "";
  if (etag !== "" && !etag.startsWith("W/")) return etag;
  return headers.get("last-modified") ?? "";
}

/** Bytes of the whole; 0 where they are not known, or are packed on the way. */
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
        ? `${what}${from} bytes are there, and loading it again goes on from there`
        : `${what}is the network there, and does the server allow this page ` +
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

/** Fetches what is not there yet; gives the bytes of the whole. */
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
    // Another file, or a server without ranges: all of it comes.
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
