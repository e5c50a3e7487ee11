// WebGPU of a browser (https://www.w3.org/TR/webgpu) for the driver of the backend
// webgpu: what it asks for comes as words in memory that both share. channel.h has
// the requests and the places; each request is a function here, of the words of
// memory, the place of its first one, and how many there are.

// Of Shared and Answer in channel.h, in words.
const WRITTEN = 0;
const TAKEN = 1;
const ANSWERED = 2;
const SIZE = 3;
const RING = 4 + 288;
const VALUES = 1;
const MESSAGE = 32;
const MESSAGE_BYTES = 1024;
const SUCCESS = 1;
const FAILURE = 2;
const OUT_OF_MEMORY = 3;

// Of Trouble.
const FAILED = 0;
const LOST = 1;
const WAS_OUT_OF_MEMORY = 2;
const FAILURE_TEXT = 4;
const LOSS_TEXT = FAILURE_TEXT + MESSAGE_BYTES / 4;

const NOTHING = 0xffff;

/** Those that the driver knows, in its order; all are asked for. */
const limitNames = [
  "maxStorageBuffersPerShaderStage",
  "maxUniformBufferBindingSize",
  "maxStorageBufferBindingSize",
  "minUniformBufferOffsetAlignment",
  "minStorageBufferOffsetAlignment",
  "maxBufferSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupSizeZ",
  "maxComputeWorkgroupsPerDimension",
];

const powers = [undefined, "low-power", "high-performance"];
const bufferTypes = [undefined, undefined, "uniform", "storage", "read-only-storage"];

let memory;
let shared; // in words
const objects = new Map(); // by the numbers that the driver gives
const troubles = new Map(); // of devices, in words
let kernels; // as bytes

const words = () => new Uint32Array(memory.buffer);
const integers = () => new Int32Array(memory.buffer);
const wide = (low, high) => low + high * 2 ** 32;

function readText(at, size) {
  // Shared memory cannot be decoded.
  return new TextDecoder().decode(new Uint8Array(memory.buffer, at, size).slice());
}

/** Writes a text with a zero at its end, as much of it as there is room for. */
function writeText(place, text) {
  const bytes = new Uint8Array(memory.buffer, place * 4, MESSAGE_BYTES);
  // Shared memory cannot be the target of an encoder.
  const encoded = new TextEncoder().encode(text).subarray(0, MESSAGE_BYTES - 1);
  bytes.set(encoded);
  bytes[encoded.length] = 0;
}

function tellAnswered() {
  Atomics.add(words(), shared + ANSWERED, 1);
  Atomics.notify(integers(), shared + ANSWERED);
}

/** `answer` is the address that the request gave; 0: no thread waits for it. */
function answer(answer, status, message = "", values = []) {
  if (answer === 0) return;
  const place = answer / 4;
  words().set(values, place + VALUES);
  writeText(place + MESSAGE, message);
  Atomics.store(words(), place, status);
  Atomics.notify(integers(), place);
  tellAnswered();
}

/** In a line. */
const textOf = (error) =>
  (error?.message || String(error)).trim().replace(/\n[\s-]*/g, "; ");
const statusOf = (error) =>
  error instanceof GPUOutOfMemoryError ? OUT_OF_MEMORY : FAILURE;

/** Keeps the first failure outside a request until the driver has read it. */
function tellFailure(trouble, error) {
  if (Atomics.load(words(), trouble + FAILED) !== 0) return;
  words()[trouble + WAS_OUT_OF_MEMORY] = statusOf(error) === OUT_OF_MEMORY ? 1 : 0;
  writeText(trouble + FAILURE_TEXT, textOf(error));
  Atomics.store(words(), trouble + FAILED, 1);
  tellAnswered();
}

function tellLoss(trouble, { reason, message }) {
  writeText(trouble + LOSS_TEXT, message || reason);
  Atomics.store(words(), trouble + LOST, 1);
  tellAnswered();
}

function nameOf({ vendor, architecture, device, description }) {
  const parts = description ? [description] : [vendor, device || architecture];
  return parts.filter((part) => part).join(" ") || "a GPU without a name";
}

async function findAdapter(to, number, power, fallback) {
  const adapter = await navigator.gpu.requestAdapter({
    powerPreference: powers[power],
    forceFallbackAdapter: fallback !== 0,
  });
  if (!adapter) throw new Error("the browser offers none");
  objects.set(number, adapter);
  const software = adapter.info.isFallbackAdapter ?? adapter.isFallbackAdapter;
  const limits = limitNames.flatMap((name) => {
    const limit = adapter.limits[name] ?? 0;
    return [limit % 2 ** 32, Math.floor(limit / 2 ** 32)];
  });
  answer(to, SUCCESS, nameOf(adapter.info), [
    software ? 1 : 0,
    adapter.features.has("shader-f16") ? 1 : 0,
    adapter.features.has("subgroups") ? 1 : 0,
    ...limits,
  ]);
}

async function openDevice(to, adapter, number, queue, at) {
  const trouble = at / 4;
  const { limits } = objects.get(adapter);
  const wanted = limitNames.filter((name) => limits[name] !== undefined);
  const device = await objects.get(adapter).requestDevice({
    requiredLimits: Object.fromEntries(wanted.map((name) => [name, limits[name]])),
  });
  objects.set(number, device);
  objects.set(queue, device.queue);
  troubles.set(number, trouble);
  device.addEventListener("uncapturederror", (event) => {
    event.preventDefault(); // the driver reports it
    tellFailure(trouble, event.error);
  });
  device.lost.then((info) => tellLoss(trouble, info));
  answer(to, SUCCESS);
}

async function makeBuffer(to, device, number, size, usage) {
  device.pushErrorScope("validation");
  device.pushErrorScope("out-of-memory");
  const buffer = device.createBuffer({ size, usage });
  objects.set(number, buffer);
  const errors = [device.popErrorScope(), device.popErrorScope()];
  const error = (await Promise.all(errors)).find((each) => each);
  if (error) answer(to, statusOf(error), textOf(error));
  else answer(to, SUCCESS);
}

async function makePipeline(to, device, number, layout, code) {
  device.pushErrorScope("validation"); // the compiler's messages say more
  const module = device.createShaderModule({ code });
  void device.popErrorScope();
  try {
    const pipeline = await device.createComputePipelineAsync({
      layout,
      compute: { module, entryPoint: "main" },
    });
    objects.set(number, pipeline);
    answer(to, SUCCESS);
  } catch (error) {
    const { messages } = await module.getCompilationInfo();
    const said = messages.find(({ type }) => type === "error");
    const where = said ? `line ${said.lineNum}: ${said.message}; ` : "";
    throw new Error(where + textOf(error));
  }
}

async function readBuffer(to, buffer, offset, size, target) {
  await buffer.mapAsync(GPUMapMode.READ, offset, size);
  new Uint8Array(memory.buffer, target, size).set(
    new Uint8Array(buffer.getMappedRange(offset, size)),
  );
  buffer.unmap();
  answer(to, SUCCESS);
}

async function fetchKernels(to, at, size) {
  const url = readText(at, size);
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`the server answers ${response.status} for ${url}`);
  }
  kernels = new Uint8Array(await response.arrayBuffer());
  answer(to, SUCCESS, "", [kernels.length]);
}

/** Work whose first argument is where its answer goes. */
const asked =
  (work) =>
  (w, i, count) => {
    const args = w.slice(i, i + count);
    work(...args).catch((error) => answer(args[0], statusOf(error), textOf(error)));
  };

const requests = {
  adapter: asked(findAdapter),
  device: asked(openDevice),
  destroy_device(w, i) {
    objects.get(w[i]).destroy();
  },
  release(w, i) {
    const object = objects.get(w[i]);
    // Memory does not wait until garbage is collected.
    if (object instanceof GPUBuffer) object.destroy();
    objects.delete(w[i]);
    troubles.delete(w[i]);
  },
  buffer(w, i) {
    const [to, device, number, low, high, usage] = w.slice(i, i + 6);
    const size = wide(low, high);
    if (to === 0) {
      objects.set(number, objects.get(device).createBuffer({ size, usage }));
      return;
    }
    makeBuffer(to, objects.get(device), number, size, usage).catch((error) =>
      // A size that no device allows is thrown.
      answer(to, error instanceof RangeError ? OUT_OF_MEMORY : FAILURE, textOf(error)),
    );
  },
  group_layout(w, i, count) {
    const entries = [];
    for (let at = i + 2; at < i + count; at += 2) {
      entries.push({
        binding: w[at],
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: bufferTypes[w[at + 1]] },
      });
    }
    objects.set(w[i + 1], objects.get(w[i]).createBindGroupLayout({ entries }));
  },
  group(w, i, count) {
    const entries = [];
    for (let at = i + 3; at < i + count; at += 6) {
      entries.push({
        binding: w[at],
        resource: {
          buffer: objects.get(w[at + 1]),
          offset: wide(w[at + 2], w[at + 3]),
          size: wide(w[at + 4], w[at + 5]),
        },
      });
    }
    const layout = objects.get(w[i + 2]);
    objects.set(w[i + 1], objects.get(w[i]).createBindGroup({ layout, entries }));
  },
  layout(w, i) {
    const bindGroupLayouts = [objects.get(w[i + 2])];
    objects.set(w[i + 1], objects.get(w[i]).createPipelineLayout({ bindGroupLayouts }));
  },
  pipeline(w, i) {
    const [to, device, number, layout, at, size] = w.slice(i, i + 6);
    const made = [objects.get(device), number, objects.get(layout)];
    makePipeline(to, ...made, readText(at, size)).catch((error) => answer(to, FAILURE, textOf(error)));
  },
  encoder(w, i) {
    objects.set(w[i + 1], objects.get(w[i]).createCommandEncoder());
  },
  copy(w, i) {
    objects
      .get(w[i])
      .copyBufferToBuffer(
        objects.get(w[i + 1]),
        wide(w[i + 2], w[i + 3]),
        objects.get(w[i + 4]),
        wide(w[i + 5], w[i + 6]),
        wide(w[i + 7], w[i + 8]),
      );
  },
  clear(w, i) {
    objects.get(w[i]).clearBuffer(objects.get(w[i + 1]), wide(w[i + 2], w[i + 3]));
  },
  pass(w, i) {
    objects.set(w[i + 1], objects.get(w[i]).beginComputePass());
  },
  set_pipeline(w, i) {
    objects.get(w[i]).setPipeline(objects.get(w[i + 1]));
  },
  set_group(w, i) {
    objects.get(w[i]).setBindGroup(0, objects.get(w[i + 1]));
  },
  dispatch(w, i) {
    objects.get(w[i]).dispatchWorkgroups(w[i + 1], w[i + 2], w[i + 3]);
  },
  end_pass(w, i) {
    objects.get(w[i]).end();
  },
  submit(w, i, count) {
    const encoders = [...w.subarray(i + 1, i + count)];
    objects.get(w[i]).submit(encoders.map((each) => objects.get(each).finish()));
  },
  write(w, i) {
    const data = new Uint8Array(memory.buffer, w[i + 4], w[i + 5]);
    const offset = wide(w[i + 2], w[i + 3]);
    objects.get(w[i]).writeBuffer(objects.get(w[i + 1]), offset, data);
  },
  write_words(w, i, count) {
    const data = w.subarray(i + 4, i + count);
    const offset = wide(w[i + 2], w[i + 3]);
    objects.get(w[i]).writeBuffer(objects.get(w[i + 1]), offset, data);
  },
  done: asked(async (to, queue) => {
    await objects.get(queue).onSubmittedWorkDone();
    answer(to, SUCCESS);
  }),
  read: asked((to, buffer, ...more) => readBuffer(to, objects.get(buffer), ...more)),
  fetch_kernels: asked(fetchKernels),
  take_kernels(w, i) {
    new Uint8Array(memory.buffer, w[i + 1], kernels.length).set(kernels);
    answer(w[i], SUCCESS);
  },
};

/** Does what is asked for. */
function take(table) {
  const w = words();
  const ring = shared + RING;
  const size = w[shared + SIZE];
  let taken = w[shared + TAKEN];
  while (Atomics.load(w, shared + WRITTEN) !== taken) {
    const at = ring + (taken % size);
    const request = w[at] & 0xffff;
    const count = w[at] >>> 16;
    if (request !== NOTHING) {
      try {
        table[request](w, at + 1, count);
      } catch (error) {
        // Only some requests contain their device.
        for (const trouble of troubles.values()) tellFailure(trouble, error);
      }
    }
    taken = (taken + 1 + count) >>> 0;
    Atomics.store(w, shared + TAKEN, taken);
  }
  Atomics.notify(integers(), shared + TAKEN);
}

async function go(table) {
  for (;;) {
    take(table);
    // Nothing is missed: it waits only if nothing has come since.
    const seen = integers()[shared + TAKEN];
    const wait = Atomics.waitAsync(integers(), shared + WRITTEN, seen);
    if (wait.async) await wait.value;
  }
}

function browserName() {
  const agent = navigator.userAgent ?? "";
  const found = /(Firefox|Chrome|Version)\/([\d.]+)/.exec(agent);
  if (found === null) return agent || "a browser without a name";
  return `${found[1] === "Version" ? "Safari" : found[1]} ${found[2]}`;
}

/**
 * Begins to do what is asked for. `at` is the address of Shared, `started` that of
 * the answer to the driver, which then knows the browser; `names` are the requests.
 */
export function serve(of, at, started, names) {
  memory = of;
  shared = at / 4;
  const table = names
    .trim()
    .split(" ")
    .map((name) => {
      if (!(name in requests)) throw new Error(`it knows no ${name}`);
      return requests[name];
    });
  answer(started, SUCCESS, browserName());
  void go(table);
}
