// The page: questions, answers, and the choice of the model.
const find = (id) => document.getElementById(id);
const [form, say, send, stop, again] = ["form", "say", "send", "stop", "again"].map(find);
const [log, rate, file, box, backend] = ["log", "rate", "file", "box", "backend"].map(find);
const [modelLine, progress, error] = ["model", "progress", "error"].map(find);

const IN_THE_BOX = "builtin:fabulist";

let talk;
/** The description of the loaded model. */
let described = "There is no model yet.";
/** The work under way, which can be stopped. */
let going;

function showError(wrong) {
  error.textContent = wrong?.message ?? "";
  error.hidden = !wrong;
}

function showState(state) {
  const idle = state === "idle";
  send.disabled = !idle;
  again.disabled = !idle;
  backend.disabled = !idle || backend.options.length < 2;
  file.disabled = state === "answering";
  box.disabled = state === "answering";
  stop.disabled = state !== "answering";
  progress.hidden = state !== "loading";
  log.setAttribute("aria-busy", String(state === "answering"));
}

/** Adds a message; text can be appended to it. */
function addMessage(role, name, text = "") {
  const article = document.createElement("article");
  article.className = role;
  const heading = document.createElement("h2");
  heading.textContent = name;
  const body = document.createTextNode(text);
  article.append(heading, body);
  log.append(article);
  log.scrollTop = log.scrollHeight;
  return body;
}

/** Writes the text that came since the last frame, once in a frame. */
function writer(body) {
  let waiting = "";
  let frame = 0;
  const flush = () => {
    frame = 0;
    if (waiting === "") return;
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
    body.appendData(waiting);
    waiting = "";
    if (atEnd) log.scrollTop = log.scrollHeight;
  };
  return {
    add(text) {
      waiting += text;
      frame ||= requestAnimationFrame(flush);
    },
    end() {
      cancelAnimationFrame(frame);
      flush();
    },
  };
}

const bytes = (count) => `${(count / 1e6).toFixed(1)} MB`;

function showProgress(fraction, { stage, bytes: done, total }) {
  progress.value = fraction;
  if (stage === "fetch" && total > 0) {
    modelLine.textContent = `Fetching the model: ${bytes(done)} of ${bytes(total)}.`;
  } else {
    modelLine.textContent = "Loading the model.";
  }
}

function describe(report) {
  const { name, architecture, parameters, device } = report;
  described =
    `${name || architecture}, ${(parameters / 1e6).toFixed(1)} million ` +
    `parameters, on ${device}.`;
}

/** Does work that takes a while, and shows its state and its error. */
async function during(state, work) {
  going?.abort();
  const own = (going = new AbortController());
  showError(undefined);
  showState(state);
  try {
    await work(own.signal);
  } catch (wrong) {
    if (!own.signal.aborted) showError(wrong);
  } finally {
    if (going === own) {
      going = undefined;
      showState(talk?.model ? "idle" : "empty");
    }
  }
}

const loadModel = (source) =>
  during("loading", async (signal) => {
    progress.removeAttribute("value");
    const options = { progress: showProgress, signal };
    try {
      describe(await talk.load(source, backend.value || "cpu", options));
      log.replaceChildren();
    } finally {
      modelLine.textContent = described;
    }
  });

function showRate({ generatedTokens, generateUs, promptTokens, promptUs }) {
  const perSecond = (tokens, us) => Math.round((1e6 * tokens) / Math.max(1, us));
  rate.value =
    `${perSecond(generatedTokens, generateUs)} tokens/s, prompt ` +
    `${perSecond(promptTokens, promptUs)} tokens/s`;
}

const answer = (text) =>
  during("answering", async (signal) => {
    addMessage("user", "You", text);
    const written = writer(addMessage("assistant", "Model"));
    let stream;
    try {
      stream = await talk.answer(text, { temperature: 0, signal });
      for await (const part of stream) written.add(part.text ?? "");
    } finally {
      written.end();
      if (stream?.report) showRate(stream.report);
    }
  });

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = say.value.trim();
  if (text === "" || send.disabled) return;
  say.value = "";
  void answer(text);
});
say.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !stop.disabled) going?.abort();
});
stop.addEventListener("click", () => going?.abort());
again.addEventListener("click", () => {
  talk.begin();
  log.replaceChildren();
  rate.value = "";
  say.focus();
});

const chosen = (list) => (list.length > 0 ? loadModel([...list]) : undefined);
file.addEventListener("change", () => {
  void chosen(file.files);
  file.value = ""; // so that the same file can be chosen again
});
box.addEventListener("click", () => loadModel(IN_THE_BOX));
backend.addEventListener("change", () =>
  during("loading", async (signal) => {
    const before = talk.model;
    try {
      const options = { progress: showProgress, signal };
      describe(await talk.move(backend.value, options));
    } finally {
      modelLine.textContent = described;
      // Shows the backend that computes.
      if (talk.model === before) backend.value = backend.dataset.before;
      backend.dataset.before = backend.value;
    }
  }),
);

for (const kind of ["dragover", "dragleave", "drop"]) {
  addEventListener(kind, (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", kind === "dragover");
    if (kind === "drop") void chosen(event.dataTransfer.files);
  });
}

/** Makes the page work without a network from now on. */
async function keepOffline() {
  if (!("serviceWorker" in navigator)) return;
  try {
    await navigator.serviceWorker.register("service.js", { type: "module" });
    await navigator.serviceWorker.ready;
    find("offline").textContent = "It works without a network from now on.";
  } catch (wrong) {
    console.warn("this page will need a network:", wrong);
  }
}

async function begin() {
  showState("loading");
  try {
    const { Talk, backends } = await import("./talk.js");
    const { support } = await import("./runcible-web/index.js");
    talk = new Talk();
    const note = find("backend-note");
    note.textContent = support().advice;
    const loading = loadModel(IN_THE_BOX);
    const { found, missing } = await backends();
    note.textContent ||= missing && `No webgpu: ${missing}`;
    for (const each of found) {
      const option = new Option(`${each.backend}: ${each.name}`, each.backend);
      backend.add(option);
    }
    backend.value = backend.dataset.before = "cpu";
    await loading;
    say.focus();
  } catch (wrong) {
    showError(wrong);
    showState("empty");
  }
  await keepOffline();
}

void begin();
