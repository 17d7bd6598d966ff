// The recorded motion. Frames lie in chunks; a chunk is unpacked when it is needed, and forgotten when memory runs short.
// A lane is a list of numbers that every frame has: poses, skins, contacts, lines, forces. It is stored as the difference to what
// the frames before predict.

const header = JSON.parse(document.getElementById("clip").textContent);
const packed = document.getElementById("data").textContent;
const MEMORY = 256e6;

/** The bytes of a stream: [offset, length] in the packed data; offsets are multiples of three, so that they lie between letters. */
async function unpack([offset, length]) {
  const letters = atob(packed.substr((offset / 3) * 4, Math.ceil(length / 3) * 4));
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** 0, −1, 1, −2 … from 0, 1, 2, 3 … */
const unfold = (folded) => (folded >>> 1) ^ -(folded & 1);

/** Whole numbers of a lane in a chunk of frames: by frame, then by part, then by item. */
function decodeLane(bytes, frames, stride) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const counts = new Uint32Array(frames), starts = new Uint32Array(frames + 1);
  for (let f = 0; f < frames; f++) {
    counts[f] = view.getUint32(4 * f, true);
    starts[f + 1] = starts[f] + counts[f] * stride;
  }
  const order = bytes[4 * frames], planes = bytes[4 * frames + 1], total = starts[frames];
  const values = new Int32Array(total);
  for (let plane = 0; plane < planes; plane++) {
    const first = 4 * frames + 2 + plane * total;
    for (let i = 0; i < total; i++) values[i] |= bytes[first + i] << (8 * plane);
  }
  for (let f = 0; f < frames; f++) {
    const n = counts[f], one = f > 0 ? counts[f - 1] : 0, two = f > 1 && order > 1 ? counts[f - 2] : 0;
    for (let part = 0; part < stride; part++) {
      const here = starts[f] + part * n, before = f > 0 ? starts[f - 1] + part * one : 0;
      const earlier = f > 1 ? starts[f - 2] + part * counts[f - 2] : 0;
      // Most frames have as many items as those before.
      const both = Math.min(n, one, two), some = Math.min(n, one);
      for (let i = 0; i < both; i++) {
        values[here + i] = unfold(values[here + i]) + 2 * values[before + i] - values[earlier + i];
      }
      for (let i = both; i < some; i++) values[here + i] = unfold(values[here + i]) + values[before + i];
      for (let i = some; i < n; i++) values[here + i] = unfold(values[here + i]) + (i > 0 ? values[here + i - 1] : 0);
    }
  }
  return { counts, starts, values };
}

const chunks = new Map();
let tick = 0;

async function loadChunk(c) {
  const entry = { lanes: null, used: ++tick, size: 0 };
  chunks.set(c, entry);
  const frames = Math.min(header.chunk, header.times.length - c * header.chunk);
  const lanes = await Promise.all(header.lanes.map(async (lane, i) =>
    decodeLane(await unpack(header.chunks[c][i]), frames, lane.scale.length)));
  entry.size = lanes.reduce((sum, lane) => sum + lane.values.byteLength, 0);
  entry.lanes = lanes;
  let size = 0;
  for (const other of chunks.values()) size += other.size;
  const oldest = [...chunks].filter(([k, it]) => k !== c && it.lanes).sort((a, b) => a[1].used - b[1].used);
  for (const [k, it] of oldest) {
    if (size <= MEMORY) break;
    size -= it.size;
    chunks.delete(k);
  }
  return entry;
}

/** A chunk, or nothing while it is unpacked. */
function chunkAt(c, ready) {
  const known = chunks.get(c);
  if (!known) loadChunk(c).then(ready, fail);
  else known.used = ++tick;
  return known && known.lanes;
}

/** Two frames about a time, and the share of the second; nothing while they are unpacked. */
function momentAt(time, ready) {
  const times = header.times;
  let low = 0, high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle; else high = middle;
  }
  const gap = times[high] - times[low];
  const part = gap > 0 ? Math.min(1, Math.max(0, (time - times[low]) / gap)) : 0;
  if (part > 0.999) low = high;
  else if (part < 0.001) high = low;
  const a = chunkAt(Math.floor(low / header.chunk), ready), b = chunkAt(Math.floor(high / header.chunk), ready);
  const next = Math.floor(high / header.chunk) + 1;
  if (next < header.chunks.length) chunkAt(next, () => {});
  if (!a || !b) return null;
  return { a, b, i: low % header.chunk, j: high % header.chunk, part: low === high ? 0 : part, frame: low };
}

/** Numbers of a lane at a moment, item by item, between the two frames where both have the same items. */
function laneAt(moment, l, out) {
  const { scale, offset } = header.lanes[l], stride = scale.length;
  const first = moment.a[l], second = moment.b[l];
  const n = first.counts[moment.i], from = first.starts[moment.i];
  const blend = moment.part > 0 && second.counts[moment.j] === n ? moment.part : 0;
  const to = second.starts[moment.j], a = first.values, b = second.values;
  if (out.length < n * stride) out = new Float32Array(n * stride);
  for (let part = 0; part < stride; part++) {
    const s = scale[part], o = offset[part], p = from + part * n, q = to + part * n;
    if (blend) for (let i = 0; i < n; i++) out[i * stride + part] = o + s * (a[p + i] + blend * (b[q + i] - a[p + i]));
    else for (let i = 0; i < n; i++) out[i * stride + part] = o + s * a[p + i];
  }
  return [out, n];
}

const POSES = 0, CONTACTS = 1, LINES = 2, FORCES = 3, SKINS = 4;

/** All poses of a body: [x, y, z, …] per frame. */
async function placesOf(body) {
  const { scale, offset } = header.lanes[POSES], out = [];
  for (let c = 0; c < header.chunks.length; c++) {
    const frames = Math.min(header.chunk, header.times.length - c * header.chunk);
    const known = chunks.get(c);
    const lane = known && known.lanes ? known.lanes[POSES]
      : decodeLane(await unpack(header.chunks[c][POSES]), frames, scale.length);
    for (let f = 0; f < frames; f++) {
      const n = lane.counts[f];
      for (let k = 0; k < 3; k++) out.push(offset[k] + scale[k] * lane.values[lane.starts[f] + k * n + body]);
    }
  }
  return out;
}
