// Tests a device, every op with every type, by the library's own test; answers
// with its report, or an error. The module is used as it is, and its thread waits.
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

onmessage = async ({ data }) => {
  try {
    const folder = new URL("/runcible-web/runcible/", location.href);
    const rc = await createRuncible({
      workers: 8,
      locateFile: (name) => new URL(name, folder).href,
    });
    postMessage({ report: testDevice(rc, data) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
