// What is around the picture: time, choices, curves, keys; and the loop that draws.

const $ = (id) => document.getElementById(id);
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
const first = header.times[0], last = header.times[header.times.length - 1], length = last - first;
const show = { flesh: true, bones: true, joints: false, contacts: false, forces: false, stretch: false, ground: true };
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const state = { time: first, playing: length > 0 && !calm, speed: header.speed, loop: true, follow: -1, dirty: true, kind: "", dark: false };
const painter = new Painter();

function fail(error) {
  $("notice").textContent = `This page cannot show the motion: ${error.message || error}`;
  throw error;
}

function touch() { state.dirty = true; }

// Choices.

const hasFlesh = header.skins.some((skin) => skin.flesh);
const PARTS = [
  ["joints", "Joints", "j", header.joints.length > 0],
  ["contacts", "Contacts", "c", header.has.contacts],
  ["forces", "Forces", "f", header.has.forces],
  ["stretch", "Stretch", "s", hasFlesh],
  ["flesh", "Flesh", "k", hasFlesh],
  ["bones", "Bones", "b", hasFlesh && header.solids.some((solid) => solid[2] === 1)],
  ["ground", "Ground", "p", header.planes.length > 0],
].filter((part) => part[3]);

function option(select, value, text) {
  const it = document.createElement("option");
  it.value = value;
  it.textContent = text;
  select.append(it);
}

function toggle(name) {
  if (!PARTS.some((part) => part[0] === name)) return;
  show[name] = !show[name];
  refresh();
}

function setCamera(name) {
  const own = header.cameras.find((it) => it.name === name);
  if (own) placeCamera(own.from, own.at, own.opening);
  else if (header.views[name]) frameAll(header.views[name], canvas.clientWidth / Math.max(1, canvas.clientHeight));
  else return false;
  $("camera").value = name;
  touch();
  return true;
}

function setFollow(body) {
  state.follow = body;
  state.anchor = null;
  $("follow").value = body < 0 ? "" : String(body);
  if (["height", "speed"].includes(state.kind)) body < 0 ? setKind(kinds()[0]?.id ?? "") : setKind(state.kind);
  drawKinds();
  touch();
}

function setDark(dark) {
  state.dark = dark;
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light" : "Dark";
  drawCurves();
  touch();
}

function setSpeed(speed) {
  state.speed = speed;
  $("speed").value = String(speed);
}

function stepSpeed(by) {
  const at = SPEEDS.findIndex((speed) => speed >= state.speed - 1e-9);
  setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, (at < 0 ? SPEEDS.length - 1 : at) + by))]);
}

function setPlaying(on) {
  if (on && state.time >= last) state.time = first;
  state.playing = on && length > 0;
  refresh();
}

function setTime(time) {
  state.time = Math.min(last, Math.max(first, time));
  touch();
}

/** Goes to the frame some frames away. */
function stepFrames(by) {
  setPlaying(false);
  let at = header.times.findIndex((time) => time >= state.time - 1e-9);
  if (at < 0) at = header.times.length - 1;
  setTime(header.times[Math.min(header.times.length - 1, Math.max(0, at + by))]);
}

function refresh() {
  for (const button of $("toggles").children) button.setAttribute("aria-pressed", String(show[button.dataset.part]));
  $("play").classList.toggle("on", state.playing);
  $("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
  $("play").title = state.playing ? "Pause (space)" : "Play (space)";
  $("loop").setAttribute("aria-pressed", String(state.loop));
  $("graph").setAttribute("aria-pressed", String(!$("plots").hidden));
  touch();
}

// Curves.

const COLORS = {
  light: ["#2b6fd6", "#e07b39", "#2f9e63", "#1d2430", "#c03a4b", "#7a5bd0"],
  dark: ["#74a9ff", "#f2a36d", "#5fd096", "#e8ecf1", "#f27a8c", "#b49dff"],
};
const curvesOfBodies = new Map();

function kinds() {
  const out = [];
  if (header.curves.energy) out.push({ id: "energy", name: "Energy [J]", series: header.curves.energy });
  if (header.curves.error) out.push({ id: "error", name: "Joint error", series: header.curves.error, log: true });
  if (state.follow >= 0) {
    const own = curvesOfBodies.get(state.follow), name = header.bodies[state.follow];
    out.push({ id: "height", name: `Height of ${name} [m]`, series: own ? [["height", 0, own.height]] : [] });
    out.push({ id: "speed", name: `Speed of ${name} [m/s]`, series: own ? [["speed", 4, own.speed]] : [] });
  }
  return out;
}

function drawKinds() {
  const box = $("kinds");
  box.replaceChildren(...kinds().map(({ id, name }) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.setAttribute("aria-pressed", String(id === state.kind));
    button.onclick = () => setKind(id);
    return button;
  }));
}

async function setKind(id) {
  state.kind = id;
  drawKinds();
  const body = state.follow;
  if (["height", "speed"].includes(id) && body >= 0 && !curvesOfBodies.has(body)) {
    const places = await placesOf(body), n = header.times.length, at = (i) => places.slice(3 * i, 3 * i + 3);
    const height = Array.from({ length: n }, (_, i) => dot(at(i), zenith));
    const speed = Array.from({ length: n }, (_, i) => {
      const a = Math.max(0, i - 1), b = Math.min(n - 1, i + 1);
      return b > a ? size(sub(at(b), at(a))) / (header.times[b] - header.times[a]) : 0;
    });
    curvesOfBodies.set(body, { height, speed });
  }
  drawCurves();
}

function tidy(value) {
  if (value === 0) return "0";
  const far = Math.abs(value);
  return far >= 1e5 || far < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

/** Heights of grid lines: round numbers, or powers of ten. */
function gridOf(low, high, log) {
  if (log) {
    const every = Math.ceil((high - low) / 5) || 1, out = [];
    for (let k = Math.ceil(low); k <= high; k += every) out.push(k);
    return out;
  }
  const raw = (high - low) / 4, power = 10 ** Math.floor(Math.log10(raw)), every = [1, 2, 5, 10].find((f) => f * power >= raw) * power;
  const out = [];
  for (let k = Math.ceil(low / every); k * every <= high + 1e-9 * every; k++) out.push(k * every);
  return out;
}

const FRAME = { left: 56, right: 12, top: 20, bottom: 20 };

function drawCurves() {
  const box = $("curves");
  if ($("plots").hidden) return;
  const kind = kinds().find((it) => it.id === state.kind), dense = devicePixelRatio || 1;
  const [w, h] = [box.clientWidth, box.clientHeight], c = box.getContext("2d", { willReadFrequently: true });
  box.width = w * dense;
  box.height = h * dense;
  c.scale(dense, dense);
  if (!kind || !kind.series.length || w < 80) return;
  const style = getComputedStyle(document.documentElement), soft = style.getPropertyValue("--soft");
  const scaled = (value) => (kind.log ? Math.log10(Math.max(value, 1e-17)) : value);
  let low = Infinity, high = -Infinity;
  for (const [, , values] of kind.series) for (const value of values) if (value !== null) {
    low = Math.min(low, scaled(value));
    high = Math.max(high, scaled(value));
  }
  if (!(low <= high)) return;
  const slack = high - low > 1e-12 * Math.max(1, Math.abs(high)) ? 0.06 * (high - low) : Math.max(1e-9, 0.5 * Math.abs(high), kind.log ? 1 : 0);
  low -= slack;
  high += slack;
  const x = (time) => FRAME.left + ((time - first) / (length || 1)) * (w - FRAME.left - FRAME.right);
  const y = (value) => h - FRAME.bottom - ((value - low) / (high - low)) * (h - FRAME.top - FRAME.bottom);
  c.font = "11px system-ui, sans-serif";
  c.lineWidth = 1;
  c.fillStyle = soft;
  c.strokeStyle = style.getPropertyValue("--edge");
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (const at of gridOf(low, high, kind.log)) {
    c.beginPath();
    c.moveTo(FRAME.left, y(at));
    c.lineTo(w - FRAME.right, y(at));
    c.stroke();
    c.fillText(kind.log ? `1e${at}` : tidy(at), FRAME.left - 6, y(at));
  }
  c.textAlign = "center";
  c.textBaseline = "bottom";
  if (length > 0) for (const at of gridOf(first, last, false)) c.fillText(`${tidy(at)} s`, Math.min(w - 20, x(at)), h - 2);
  c.lineJoin = "round";
  let legend = FRAME.left;
  for (const [name, color, values] of kind.series) {
    c.strokeStyle = COLORS[state.dark ? "dark" : "light"][color];
    c.lineWidth = 1.7;
    c.beginPath();
    let open = false;
    values.forEach((value, i) => {
      if (value === null) { open = false; return; }
      if (open) c.lineTo(x(header.times[i]), y(scaled(value))); else c.moveTo(x(header.times[i]), y(scaled(value)));
      open = true;
    });
    c.stroke();
    c.fillStyle = c.strokeStyle;
    c.textAlign = "left";
    c.textBaseline = "top";
    c.fillText(name, legend, 2);
    legend += c.measureText(name).width + 14;
  }
  state.plot = { x, image: c.getImageData(0, 0, box.width, box.height), dense };
  drawHead();
}

/** The mark of the present time on the curves. */
function drawHead() {
  const box = $("curves");
  if ($("plots").hidden || !state.plot) return;
  const c = box.getContext("2d"), { x, image, dense } = state.plot;
  c.putImageData(image, 0, 0);
  c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  c.fillRect(x(state.time) - 0.75, FRAME.top, 1.5, box.height / dense - FRAME.top - FRAME.bottom);
}

// Pointers: one turns, two move and zoom.

const pointers = new Map();

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  canvas.focus({ preventScroll: true });
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
});
canvas.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const now = [event.clientX, event.clientY], tall = canvas.clientHeight, aspect = canvas.clientWidth / tall;
  const by = [now[0] - before[0], now[1] - before[1]];
  if (pointers.size > 1) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
    zoom(apart(before) / Math.max(1, apart(now)));
    pan(by[0] / tall / 2, by[1] / tall / 2, aspect);
  } else if (event.buttons & 6 || event.shiftKey) pan(by[0] / tall, by[1] / tall, aspect);
  else orbit((by[0] / tall) * 4, (by[1] / tall) * 4);
  pointers.set(event.pointerId, now);
  touch();
});
for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
canvas.addEventListener("contextmenu", (event) => event.preventDefault());
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004));
  touch();
}, { passive: false });
canvas.addEventListener("dblclick", (event) => {
  if (!painter.poses) return;
  const aspect = canvas.clientWidth / canvas.clientHeight, { right, up, toward } = axes(), [ox, oy] = openings(aspect), at = eye();
  let best = -1, least = 0.12;
  header.bodies.forEach((_, body) => {
    const p = sub(painter.poses.subarray(7 * body, 7 * body + 3), at), far = -dot(p, toward);
    if (far <= 0) return;
    const x = 0.5 + (0.5 * dot(p, right)) / (far * ox) - event.offsetX / canvas.clientWidth;
    const y = 0.5 - (0.5 * dot(p, up)) / (far * oy) - event.offsetY / canvas.clientHeight;
    const apart = Math.hypot(x * aspect, y);
    if (apart < least) [best, least] = [body, apart];
  });
  setFollow(best);
});

// Keys.

const VIEWS = Object.keys(header.views);
const KEYS = [
  ["Space", "play or pause"], ["← →", "a frame back or on; with shift a second"], ["Home End", "first or last frame"],
  ["↑ ↓", "faster or slower"], ["L", "loop"], ["G", "curves"],
  ...PARTS.map(([, name, key]) => [key.toUpperCase(), name.toLowerCase()]),
  ["1 – 6", `camera: ${VIEWS.join(", ")}`], ["R", "camera back to where it was"], ["D", "dark or light"], ["W", "full screen"], ["U", "the picture alone"], ["?", "this list"],
];

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const tag = event.target.tagName;
  if (tag === "SELECT" || (tag === "BUTTON" && event.key === " ")) return;
  if (event.target === $("scrub") && event.key.startsWith("Arrow")) event.preventDefault();
  const part = PARTS.find((it) => it[2] === event.key.toLowerCase());
  const acts = {
    " ": () => setPlaying(!state.playing),
    ArrowLeft: () => (event.shiftKey ? setTime(state.time - 1) : stepFrames(-1)),
    ArrowRight: () => (event.shiftKey ? setTime(state.time + 1) : stepFrames(1)),
    Home: () => setTime(first), End: () => { setPlaying(false); setTime(last); },
    ArrowUp: () => stepSpeed(1), ArrowDown: () => stepSpeed(-1),
    l: () => $("loop").click(), g: () => $("graph").click(), d: () => setDark(!state.dark), w: () => $("full").click(),
    u: () => { document.body.classList.toggle("bare"); touch(); },
    r: () => setCamera($("camera").value), "?": () => $("keys").click(),
  };
  const act = part ? () => toggle(part[0]) : acts[event.key] || acts[event.key.toLowerCase()]
    || (VIEWS[Number(event.key) - 1] && (() => setCamera(VIEWS[Number(event.key) - 1])));
  if (!act) return;
  event.preventDefault();
  act();
});

// Controls.

function build() {
  document.querySelector("#title h1").textContent = header.name;
  document.querySelector("#title p").textContent = header.facts;
  for (const own of header.cameras) option($("camera"), own.name, own.name);
  for (const view of VIEWS) if (!header.cameras.some((own) => own.name === view)) option($("camera"), view, view);
  header.bodies.forEach((name, i) => option($("follow"), String(i), name));
  const speeds = SPEEDS.includes(header.speed) ? SPEEDS : [...SPEEDS, header.speed].sort((a, b) => a - b);
  for (const speed of speeds) option($("speed"), String(speed), `${speed}×`);
  for (const [part, name, key] of PARTS) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: name, title: `${name} (${key.toUpperCase()})` });
    button.dataset.part = part;
    button.onclick = () => toggle(part);
    $("toggles").append(button);
  }
  for (const [key, what] of KEYS) {
    const [dt, dd] = ["dt", "dd"].map((tag) => document.createElement(tag));
    dt.textContent = key;
    dd.textContent = what;
    document.querySelector("#help dl").append(dt, dd);
  }
  Object.assign($("scrub"), { min: first, max: last, step: "any" });
  $("scrub").oninput = (event) => { setPlaying(false); setTime(Number(event.target.value)); };
  $("camera").onchange = (event) => setCamera(event.target.value);
  $("follow").onchange = (event) => setFollow(event.target.value === "" ? -1 : Number(event.target.value));
  $("speed").onchange = (event) => setSpeed(Number(event.target.value));
  $("play").onclick = () => setPlaying(!state.playing);
  $("loop").onclick = () => { state.loop = !state.loop; refresh(); };
  $("graph").onclick = () => { $("plots").hidden = !$("plots").hidden; setKind(state.kind || kinds()[0]?.id || ""); refresh(); };
  $("theme").onclick = () => setDark(!state.dark);
  $("keys").onclick = () => $("help").showModal();
  $("full").onclick = () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.());
  $("menu").onclick = () => $("menu").setAttribute("aria-expanded", String($("tools").classList.toggle("open")));
  const scrubCurves = (event) => {
    if (!event.buttons || !state.plot) return;
    const wide = $("curves").clientWidth - FRAME.left - FRAME.right;
    setPlaying(false);
    setTime(first + ((event.offsetX - FRAME.left) / wide) * length);
  };
  $("curves").onpointerdown = scrubCurves;
  $("curves").onpointermove = scrubCurves;
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  setDark(darkness.matches);
  darkness.onchange = (event) => setDark(event.matches);
}

/** What follows the # of the address: t, camera, follow, show, theme, speed, ui, play, curves. */
function obey() {
  const wish = new URLSearchParams(location.hash.slice(1));
  if (wish.get("ui") === "0") document.body.classList.add("bare");
  if (wish.has("theme")) setDark(wish.get("theme") === "dark");
  if (wish.has("curves")) { $("plots").hidden = false; setKind(wish.get("curves") || kinds()[0]?.id || ""); }
  resize();
  const own = (wish.get("camera") || "").split(",").map(Number);
  if (own.length >= 6 && own.every(Number.isFinite)) placeCamera(own.slice(0, 3), own.slice(3, 6), own[6] || OPENING);
  else if (!setCamera(wish.get("camera") || header.camera)) setCamera("corner");
  if (wish.has("show")) {
    const shown = wish.get("show").split(",");
    for (const part of Object.keys(show)) if (shown.includes(part)) show[part] = true; else if (shown.includes(`-${part}`)) show[part] = false;
  }
  if (wish.has("follow")) setFollow(header.bodies.indexOf(wish.get("follow")));
  if (Number(wish.get("speed")) > 0) setSpeed(Number(wish.get("speed")));
  if (wish.has("t")) { state.playing = false; setTime(Number(wish.get("t")) || 0); }
  if (wish.has("play")) state.playing = wish.get("play") !== "0" && length > 0;
  refresh();
}

function resize() {
  const dense = Math.min(devicePixelRatio || 1, 2) * fineness;
  const [w, h] = [Math.max(1, Math.round(canvas.clientWidth * dense)), Math.max(1, Math.round(canvas.clientHeight * dense))];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    touch();
  }
}

// The loop.

let before = 0, slow = 0;
/** Pixels of the picture per pixel of the screen: fewer where drawing is slow. */
let fineness = 1;

function advance(now) {
  const passed = Math.min(0.25, (now - before) / 1000);
  slow = state.playing && now - before > 45 ? slow + 1 : 0;
  if (slow > 12 && fineness > 0.4) [fineness, slow] = [fineness * 0.7, 0];
  before = now;
  if (!state.playing) return;
  let time = state.time + passed * state.speed;
  if (time > last) {
    if (state.loop) time = first + ((time - first) % (length || 1));
    else { time = last; state.playing = false; refresh(); }
  }
  setTime(time);
}

function follow() {
  if (state.follow < 0) return;
  const place = [...painter.poses.subarray(7 * state.follow, 7 * state.follow + 3)];
  if (state.anchor) camera.target = add(camera.target, sub(place, state.anchor));
  else camera.target = place;
  state.anchor = place;
}

function frame(now) {
  requestAnimationFrame(frame);
  advance(now);
  resize();
  if (!state.dirty) return;
  const moment = momentAt(state.time, touch), look = LOOKS[state.dark ? "dark" : "light"];
  if (!moment && !painter.poses) return;
  state.dirty = false;
  if (moment) {
    painter.take(moment, show, look);
    follow();
  }
  painter.draw(show, look);
  document.documentElement.dataset.shown = String(state.time);
  $("clock").innerHTML = `<b>${state.time.toFixed(2)}</b> / ${last.toFixed(2)} s`;
  if (document.activeElement !== $("scrub") || state.playing) $("scrub").value = state.time;
  drawHead();
}

async function start() {
  build();
  if (!gl) throw new Error("this browser has no WebGL 2");
  if (!window.DecompressionStream) throw new Error("this browser is too old: it needs DecompressionStream");
  await painter.load();
  obey();
  setSpeed(state.speed);
  addEventListener("hashchange", obey);
  addEventListener("resize", () => { drawCurves(); touch(); });
  requestAnimationFrame(frame);
}

start().catch(fail);
