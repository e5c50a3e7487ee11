// Tests a device, every op with every type, by the library's own test; posts its
// report, or an error. The module runs in this worker, whose thread waits.
import createRuncible from "/runcible-web/runcible/runcible.mjs";

function testDevice(rc, spec) {
  const text = (value) => {
    const size = rc.lengthBytesUTF8(value) + 1;
    const at = rc._malloc(size);
    rc.stringToUTF8(value, at, size);
    return at;
  };
  const out = rc._malloc(4);
  const status = rc._rc_device_test(text(spec), 0, 0, 0, out);
  if (status !== 0) throw new Error(rc.UTF8ToString(rc._rc_error_message()));
  const [json] = new Uint32Array(rc.wasmMemory.buffer, out, 1);
  return JSON.parse(rc.UTF8ToString(json));
}

/** Loads the products of the level `relaxed`, before any backend is opened. */
async function give(rc, url) {
  const products = new Uint8Array(await (await fetch(url)).arrayBuffer());
  const at = rc._malloc(products.length);
  new Uint8Array(rc.wasmMemory.buffer).set(products, at);
  rc._rc_web_relaxed(at, products.length);
}

onmessage = async ({ data: { spec, relaxed } }) => {
  try {
    const folder = new URL("/runcible-web/runcible/", location.href);
    const rc = await createRuncible({
      workers: 8,
      locateFile: (name) => new URL(name, folder).href,
    });
    if (relaxed !== undefined) await give(rc, relaxed);
    postMessage({ report: testDevice(rc, spec) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
